#!/usr/bin/env bash
# Runs the library and the tool of `make portable` in root file systems of older Debian releases, which debootstrap
# makes in ~/.cache/profshim/roots. Needs root. Prints one line for each system; the last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
roots=${XDG_CACHE_HOME:-$HOME/.cache}/profshim/roots
built=build/portable
# shellcheck disable=SC2016  # the inner shell expands it: $0 is the root
inside='mount -t proc none "$0/proc" && mount -t tmpfs none "$0/dev" && mkdir "$0/dev/shm" &&
  mount -t tmpfs none "$0/dev/shm" && cp -a /dev/{null,zero,random,urandom} "$0/dev" && exec chroot "$0" /opt/portable/in_root.sh'

# suite | name | mirror | keyring
systems='
bullseye|Debian 11|http://deb.debian.org/debian|debian-archive-keyring.gpg
buster|Debian 10|http://archive.debian.org/debian|debian-archive-removed-keys.gpg
'

for file in "$built/libprofshim.so" "$built/profshim"; do
  [ -e "$file" ] || { echo "portable: $file is not built: make portable" >&2; exit 2; }
done

# Makes a root file system, complete once it has opt/portable-root. Tests the mirror first, because debootstrap retries
# for minutes.
make_root() {  # SUITE MIRROR KEYS
  local root=$roots/$1
  [ -e "$root/opt/portable-root" ] && return
  mkdir -p "$roots"
  rm -rf "$root"
  /usr/lib/apt/apt-helper download-file "$2/dists/$1/Release" "$roots/$1.release" >"$roots/$1.log" 2>&1 &&
    debootstrap --variant=minbase --keyring="/usr/share/keyrings/$3" --include=openmpi-bin,python3-mpi4py \
      "$1" "$root" "$2" >>"$roots/$1.log" 2>&1 && touch "$root/opt/portable-root"
}

passed=0 failed=0
while IFS='|' read -r suite name mirror keys; do
  [ -n "$suite" ] || continue
  if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null 2>&1; then
    echo "$name: skipped: needs root and debootstrap"
    continue
  fi
  if ! make_root "$suite" "$mirror" "$keys"; then
    echo "$name: skipped: no root could be made: $(grep -m 1 '^E: ' "$roots/$suite.log")"
    continue
  fi
  root=$roots/$suite
  mkdir -p "$root/opt/profshim" "$root/opt/portable"
  cp "$built/libprofshim.so" "$built/profshim" "$root/opt/profshim"
  cp tests/portable/* "$root/opt/portable"
  # The check runs in its own namespaces, so that its mounts and processes end with it.
  said=$(timeout --kill-after=10 900 unshare --mount --pid --fork --kill-child bash -c "$inside" "$root" </dev/null 2>&1)
  status=$?
  checks=$(tail -n 1 <<<"$said")
  glibc=$(chroot "$root" getconf GNU_LIBC_VERSION)
  if [ "$status" -eq 0 ]; then
    echo "$name ($glibc): $checks checks passed"
    passed=$((passed + 1))
  else
    echo "$name ($glibc): failed"
    printf '%s\n' "$said"
    failed=$((failed + 1))
  fi
done <<<"$systems"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
