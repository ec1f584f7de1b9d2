#!/usr/bin/env bash
# Runs the jobs of tests/loops under the library, without a spec, and prints a table of the steps that were found. The
# first lines of a job say how many steps are right ("steps: 30"), and how many ranks it has ("ranks: 4"). Steps are right
# if their number is within one of that. PROFSHIM_STEPS keeps the search and the count going until the job ends.
#   scripts/loops.sh [--update] [FILE...]   --update writes the table into tests/README.md
# Exit status 0 if at least 90 % are right, and no wrong one was found with high confidence.
set -u
cd "$(dirname "$0")/.." || exit 2
library=${PROFSHIM_LIBRARY:-$PWD/build/libprofshim.so}
update=
if [ "${1:-}" = --update ]; then update=yes; shift; fi
if [ $# -gt 0 ]; then jobs=("$@"); else jobs=(tests/loops/*.c tests/loops/*.f90 tests/loops/*.lammps tests/loops/*.py tests/loops/frameworks/*.py); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=scripts/loop_jobs.sh
. scripts/loop_jobs.sh

row() { # FILE: prints a row; adds to the counts
  local file=$1 steps ranks log line found seen confidence right=no
  steps=$(said_in steps "$file") ranks=$(said_in ranks "$file")
  log=$work/log
  if ! command_of "$file" "$ranks"; then skipped=$((skipped + 1)); echo "| $(basename "$file") | skipped | | $steps | | |"; return; fi
  rm -rf "$work/traces"
  LD_PRELOAD=$library PROFSHIM=1 PROFSHIM_STEPS=11-13,1000000 PROFSHIM_FOLDER=$work/traces timeout 300 "${command[@]}" >"$work/out" 2>"$log" </dev/null ||
    { echo "| $(basename "$file") | the job failed | | $steps | | no |"; wrong=$((wrong + 1)); return; }
  line=$(grep -m 1 '^profshim: rank 0: ' "$log")
  found=$(sed -n 's/.*; steps from \(.*\), \([0-9]*\) seen.*/\1/p' <<<"$line")
  case $line in *'no loop found'*) found='no loop found' ;; esac
  seen=$(sed -n 's/.* \([0-9]*\) \(steps \)*seen.*/\1/p' <<<"$line")
  confidence=$(sed -n 's/.*confidence \([a-z]*\).*/\1/p' <<<"$line")
  if [ -n "$seen" ] && [ $((seen - steps)) -le 1 ] && [ $((steps - seen)) -le 1 ]; then right=yes; good=$((good + 1)); else
    wrong=$((wrong + 1))
    [ "$confidence" != high ] || falsely_sure=$((falsely_sure + 1))
  fi
  echo "| $(basename "$file") | ${found:-${line#profshim: rank 0: }} | ${seen:--} | $steps | ${confidence:--} | $right |"
}

good=0 wrong=0 skipped=0 falsely_sure=0
{
  echo "| job | found | steps | right | confidence | right? |"
  echo "|---|---|---|---|---|---|"
} >"$work/table"
cat "$work/table"
for job in "${jobs[@]}"; do row "$job" >"$work/row"; tee -a "$work/table" <"$work/row"; done
echo "$good right, $wrong wrong ($falsely_sure with high confidence), $skipped skipped"
if [ -n "$update" ]; then
  awk -v table="$work/table" '/<!-- loops -->/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
    /<!-- end of loops -->/ { skip = 0 } !skip' tests/README.md >"$work/readme" && cp "$work/readme" tests/README.md
fi
[ $((good * 10)) -ge $(((good + wrong) * 9)) ] && [ "$falsely_sure" -eq 0 ]
