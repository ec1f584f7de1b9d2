#!/usr/bin/env bash
# Checks that make builds a file again if its compiler or flags change, and only then. The compiler is a script that makes
# empty files.
set -u
cd "$(dirname "$0")/.." || exit 2

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/compiler" <<'SCRIPT'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
: >"$2"
SCRIPT
chmod +x "$folder/compiler"
objects=$folder/build/obj/release
unset MAKEFLAGS MAKELEVEL MFLAGS CXXFLAGS LDFLAGS VARIANT

# Arguments: more arguments of make
build() {
  make --no-print-directory -j"$(nproc)" BUILD="$folder/build" DEPS=build/deps CXX="$folder/compiler" NVTX_INCLUDE=nvtx \
    "$@" "$objects"/inject/nvtx/ranges.o "$objects"/tests/unit/base/text/glob_test.o "$folder/build/profshim"
}

broken=0
# Arguments: the number of files of inject, src, tests and of programs that would be built, more arguments of make
expect() {
  local printed counts
  printed=$(build -n "${@:2}")
  counts="$(grep -c 'CXX    inject/' <<<"$printed") $(grep -c 'CXX    src/base/text/glob.cpp' <<<"$printed")"
  counts+=" $(grep -c 'CXX    tests/.*_test' <<<"$printed") $(grep -c 'LINK  ' <<<"$printed")"
  [ "$counts" = "$1" ] || { echo "flags: make ${*:2} builds $counts files of inject, src, tests and programs, not $1"; broken=1; }
}

build >/dev/null || exit 1
expect "0 0 0 0"
expect "1 1 1 1" CXXFLAGS=-O0
expect "1 1 1 1" CXX="ccache $folder/compiler"
expect "1 0 1 0" NVTX_INCLUDE=other
expect "0 0 0 1" LDFLAGS=-Lother
exit "$broken"
