#!/usr/bin/env bash
# Checks that a change of a hook table compiles at most 40 files of the library and the tool again. Needs a finished `make`.
set -u
cd "$(dirname "$0")/.." || exit 2

most=40
broken=0
unset MAKEFLAGS MAKELEVEL MFLAGS
for table in include/profshim/hooks/*.def; do
  count=$(make -n -W "$table" all | grep -c '"  CXX ')
  [ "$count" -gt 0 ] || { echo "rebuilds: $table rebuilds nothing: run make first"; broken=1; }
  [ "$count" -le "$most" ] || { echo "rebuilds: $table rebuilds $count files, more than $most: include profshim/hooks/ids.h in fewer"; broken=1; }
done
exit "$broken"
