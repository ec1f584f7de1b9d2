#!/usr/bin/env bash
# Runs the README's commands, `make demo` and `make test`, on fresh Debian systems, and builds the library and the tool
# with every compiler that each system has. Needs root, debootstrap and some gigabytes.
#
#   DISTROS="bookworm trixie testing"   systems; by default these three
#   STEPS="demo test build"             what to do; build: with each compiler; by default all three
#   COMPILERS="g++-14 clang++-19"       for `build`; by default gcc 12 to 15 and clang 15 to 19 that have packages
#   ROOTS=build/distros                 folder of the systems; remove it with `rm -r --one-file-system`
#
# Prints one line for each step of each system; logs are beside the systems. Exit 1 if one failed, 2 if none could run.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$PWD
roots=$(realpath -m "${ROOTS:-build/distros}")
mirror=${MIRROR:-http://deb.debian.org/debian}
read -ra distros <<<"${DISTROS:-bookworm trixie testing}"
read -ra steps <<<"${STEPS:-demo test build}"
read -ra compilers <<<"${COMPILERS:-g++-12 g++-13 g++-14 g++-15 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19}"

stop() { echo "test_distros: $*" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || stop "only root can make other systems: sudo make test-distros"
command -v debootstrap >/dev/null || stop "no debootstrap: apt-get install debootstrap"
for step in "${steps[@]}"; do
  case "$step" in demo | test | build) ;; *) stop "no step $step: demo, test, build" ;; esac
done

# Removes all mounts below a system at every exit, so that removing the folder removes nothing else.
unmount() {
  local target
  while read -r target; do umount "$target" || umount --lazy "$target"; done \
    < <(findmnt -rno TARGET | awk -v below="$roots/" 'index($0, below) == 1' | sort -r)
}
trap unmount EXIT
trap 'exit 130' INT TERM

make_root() {  # DISTRO: installs the smallest system
  local root=$roots/$1
  [ -e "$root/.made" ] && return
  if [ -e "$root" ]; then  # left by an interrupted attempt
    unmount
    ! findmnt -rno TARGET | grep -qF "$root/" || stop "something is mounted below $root"
    rm -r --one-file-system "$root"
  fi
  mkdir -p "$root"
  debootstrap --variant=minbase "$1" "$root" "$mirror" >"$roots/$1.debootstrap.log" 2>&1 ||
    stop "debootstrap $1 failed: $roots/$1.debootstrap.log"
  touch "$root/.made"
}

enter_root() {  # DISTRO: mounts /proc, /sys, /dev/shm; copies this machine's DNS, pip and certificate settings
  local root=$roots/$1
  findmnt -rn "$root/proc" >/dev/null || mount -t proc proc "$root/proc"
  findmnt -rn "$root/sys" >/dev/null || mount -t sysfs -o ro sysfs "$root/sys"
  findmnt -rn "$root/dev/shm" >/dev/null || mount -t tmpfs tmpfs "$root/dev/shm"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  printf '127.0.0.1 localhost %s\n' "$(hostname)" >"$root/etc/hosts"
  if [ -e /etc/pip.conf ]; then cp /etc/pip.conf "$root/etc/pip.conf"; fi
  if [ -e /etc/ssl/certs/ca-certificates.crt ]; then cp /etc/ssl/certs/ca-certificates.crt "$root/etc/this-machine.crt"; fi
  # On a mirror that is weeks behind, the package list of testing has expired.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/10-mirror-behind"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # packages start no services
  chmod +x "$root/usr/sbin/policy-rc.d"
}

inside() {  # DISTRO COMMAND: runs it in a fresh environment
  chroot "$roots/$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PIP_CERT=/etc/this-machine.crt PROFSHIM_TEST_JOBS="${PROFSHIM_TEST_JOBS:-$(nproc)}" bash -c "$2"
}

# Copies the committed tree. Keeps earlier build output and the times of unchanged files.
bring_tree() {  # DISTRO
  local copy=$roots/$1/root/profshim new=$roots/$1/root/profshim.new file
  mkdir -p "$copy" "$new"
  git -C "$tree" archive HEAD | tar x -C "$new"
  while read -r file; do
    if cmp -s "$copy/$file" "$new/$file"; then touch -r "$copy/$file" "$new/$file"; fi
  done < <(git -C "$tree" ls-files)
  find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -r --one-file-system {} +
  find "$new" -mindepth 1 -maxdepth 1 -exec mv -t "$copy" {} +
  rmdir "$new"
  git -C "$copy" init -q && git -C "$copy" add -A # `make lint` and `make format` ask git for the sources
}

versions() {  # DISTRO
  # shellcheck disable=SC2016
  inside "$1" '
    mpi=$(mpirun.openmpi --version 2>/dev/null | sed -n "1s/.* //p")
    mpich=$(mpichversion 2>/dev/null | sed -n "s/^MPICH Version: *//p")
    python=$(python3 --version 2>/dev/null | sed "s/.* //")
    echo "$(g++ -dumpfullversion 2>/dev/null || echo none)|${mpi:-none}|${mpich:-none}|${python:-none}"'
}

failed=0
line='%-9s  %-22s  %-10s  %-9s  %-9s  %-8s  %s\n'
report() {  # DISTRO STEP COMPILER RESULT
  local gcc open mpich python
  IFS='|' read -r gcc open mpich python < <(versions "$1")
  # shellcheck disable=SC2059
  printf "$line" "$1" "$2" "${3:-gcc $gcc}" "$open" "$mpich" "$python" "$4"
}

readme_command() {  # DISTRO demo|test
  local log=$roots/$1.$2.log result=passed where=''
  inside "$1" "cd /root/profshim && make $2" >"$log" 2>&1 || result=failed where=": $log"
  if [ "$2" = test ]; then
    # If the tests did not start, the log has no line of results.
    result=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1 || true)
    result=${result:-no test ran}
  fi
  result+=$where
  case "$result" in *", 0 failed" | *", 0 failed, "*" skipped" | passed) ;; *) failed=1 ;; esac
  report "$1" "make $2" "" "$result"
}

# Warnings are errors here, and nowhere else: a newer compiler must not break a user's build.
build_with() {  # DISTRO COMPILER
  local package=${2/clang++/clang} log=$roots/$1.$2.log result=passed
  inside "$1" "apt-cache show $package >/dev/null 2>&1" || return 0
  if ! inside "$1" "(command -v $2 >/dev/null || apt-get -qq install -y --no-install-recommends $package) && cd /root/profshim &&
      make -j$(nproc) BUILD=build/$2 DEPS=build/deps CXX=$2 CXXFLAGS='-O2 -g -Werror' all" >"$log" 2>&1; then
    result="failed: $log" failed=1
  fi
  report "$1" "make all" "$2" "$result"
}

mkdir -p "$roots"
# shellcheck disable=SC2059
printf "$line" system command compiler "Open MPI" MPICH Python result
for distro in "${distros[@]}"; do
  make_root "$distro"
  enter_root "$distro"
  bring_tree "$distro"
  inside "$distro" 'apt-get -qq update && apt-get -qq install -y --no-install-recommends git make' \
    >"$roots/$distro.packages.log" 2>&1 || stop "no git and make in $distro: $roots/$distro.packages.log"
  for step in "${steps[@]}"; do
    if [ "$step" != build ]; then readme_command "$distro" "$step"; continue; fi
    inside "$distro" 'cd /root/profshim && scripts/install_deps.sh' >"$roots/$distro.deps.log" 2>&1 ||
      stop "scripts/install_deps.sh failed in $distro: $roots/$distro.deps.log"
    for compiler in "${compilers[@]}"; do build_with "$distro" "$compiler"; done
  done
  unmount
done
exit $failed
