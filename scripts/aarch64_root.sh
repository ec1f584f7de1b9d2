#!/usr/bin/env bash
# Makes an aarch64 root file system of this Debian release in ~/.cache/profshim/aarch64: libraries for the cross
# compiler, and a system for the unit tests and tests/portable. Packages are unpacked, not installed, so that nothing
# else on the machine changes. Prints nothing if the root exists.
set -eu
root=${XDG_CACHE_HOME:-$HOME/.cache}/profshim/aarch64
packages=(zlib1g-dev libgtest-dev libc6-dev libstdc++6 bash dash coreutils sed grep findutils diffutils hostname libc-bin mawk
  openmpi-bin python3-minimal python3-mpi4py)

[ -e "$root/opt/whole" ] && exit 0
rm -rf "$root"
apt=$root/opt/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
apt_get() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
    -o Dir::Cache="$apt/cache" "$@"
}
echo "  unpacking a root for aarch64 into $root"
apt_get update
apt_get install --yes --no-install-recommends --download-only "${packages[@]}"
for package in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
rm -rf "$apt"
mkdir -p "$root"/{proc,dev,tmp,opt,root}
ln -s mawk "$root/usr/bin/awk"  # as installing the package would do
# The linker searches this copy: beside the originals is libc.so, a linker script that names /lib.
mkdir "$root/opt/lib"
cp "$root"/usr/lib/aarch64-linux-gnu/lib{z,gtest,gtest_main}.a "$root/opt/lib"
touch "$root/opt/whole"
