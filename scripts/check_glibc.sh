#!/usr/bin/env bash
# Prints the glibc version that a library or program needs. Exit 1, with the symbols, if it is newer than MOST.
#   scripts/check_glibc.sh MOST FILE...     MOST: a version like 2.28, or "any"
set -eu
[ $# -ge 2 ] || { sed -n '2,3s/^# \{0,1\}//p' "$0" >&2; exit 2; }
most=$1
shift

fault=0
for file in "$@"; do
  [ -e "$file" ] || { echo "check_glibc: $file is not built" >&2; exit 2; }
  # "pthread_create 2.34": an undefined symbol with the version that it needs.
  wanted=$(objdump -T "$file" | sed -n 's/.*\*UND\*.*(\{0,1\}GLIBC_\([0-9.]*\))\{0,1\} *\([^ ]*\)$/\2 \1/p' | sort -V -k 2)
  newest=${wanted##* }
  [ -n "$newest" ] || { echo "glibc: $file: no versions of glibc in it" >&2; exit 2; }
  if [ "$most" != any ] && [ "$(printf '%s\n%s\n' "$most" "$newest" | sort -V | tail -n 1)" != "$most" ]; then
    while read -r name version; do
      [ "$(printf '%s\n%s\n' "$most" "$version" | sort -V | tail -n 1)" = "$most" ] ||
        echo "glibc: $file needs $version for $name; allowed: $most (add a replacement to src/old_glibc)"
    done <<<"$wanted"
    fault=1
  else
    echo "glibc: $file needs $newest"
  fi
done
exit "$fault"
