#!/usr/bin/env bash
# Prints the line coverage of src/ and inject/ by folder, from the counts that an instrumented build has written.
#   scripts/coverage.sh OBJECTS       the folder of the objects; `make coverage` calls it
set -euo pipefail
cd "$(dirname "$0")/.."
command -v gcovr >/dev/null || { echo "coverage: no gcovr: apt-get install gcovr" >&2; exit 2; }
gcovr --root . --object-directory "$1" --filter 'src/' --filter 'inject/' --filter 'include/' --csv - "$1" |
  awk -F, 'NR > 1 {
    folder = $1; sub(/\/[^\/]*$/, "", folder); split(folder, part, "/")
    folder = part[1] (part[2] == "" ? "" : "/" part[2])
    lines[folder] += $2; covered[folder] += $3; lines["all"] += $2; covered["all"] += $3
  }
  END { for (folder in lines) printf "%-20s %6d lines %5.1f %%\n", folder, lines[folder], 100 * covered[folder] / lines[folder] }' |
  sort
