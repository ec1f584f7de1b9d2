#!/usr/bin/env bash
# Compares runs of one MPI program while three compilers work beside it: pairs with four times the work in each step of
# the second run, and pairs of equal runs. Prints the verdicts.
#   scripts/compare_under_load.sh [PAIRS [EQUAL_PAIRS [RANKS]]]      default: 20, 100 and 1
# Exit status 0 if at least 95 % of the slower runs and no equal run is a regression.
set -u
cd "$(dirname "$0")/.." || exit 2
pairs=${1:-20} equal=${2:-100} ranks=${3:-1}
library=$PWD/build/libprofshim.so tool=$PWD/build/profshim program=$PWD/build/tests/apps/openmpi/steps_loop
work=$(mktemp -d)
neighbors=()
stop() {
  for pid in "${neighbors[@]}"; do kill -- "-$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap stop EXIT

printf '#include <regex>\nint main() { return std::regex_match("a", std::regex("a*")); }\n' >"$work/busy.cpp"
for _ in 1 2 3; do
  # shellcheck disable=SC2016 # the inner shell expands $0
  setsid sh -c 'while :; do g++ -O2 -c "$0" -o /dev/null; done' "$work/busy.cpp" >/dev/null 2>&1 &
  neighbors+=($!)
  disown
done

cat >"$work/spec.toml" <<SPEC
version = 1
[ranks]
select = "all"
[steps]
source  = "collective"
pattern = "MPI_Barrier"
[schedule]
steps = ["20-69"]
[output]
folder = "$work/{run_name}"
SPEC

record() { # NAME ROUNDS
  rm -rf "${work:?}/$1"
  LD_PRELOAD=$library PROFSHIM_SPEC=$work/spec.toml PROFSHIM_RUN_NAME=$1 \
    mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$program" 75 0 0 "$2" >/dev/null 2>"$work/log" ||
    { cat "$work/log"; exit 2; }
}

rounds=60 # about 250 us
found=0 false_alarms=0
for ((i = 0; i < pairs; ++i)); do
  record base $rounds
  record slow $((4 * rounds))
  status=0
  "$tool" compare "$work/base" "$work/slow" >"$work/verdict" || status=$?
  if [ "$status" -eq 1 ] && grep -q 'REGRESSION' "$work/verdict"; then found=$((found + 1)); else cat "$work/verdict"; fi
done
cat "$work/verdict"
echo "four times the work: $found of $pairs are regressions"
record first $rounds
for ((i = 0; i < equal; ++i)); do
  record second $rounds
  if ! "$tool" compare "$work/first" "$work/second" >"$work/verdict"; then
    false_alarms=$((false_alarms + 1))
    cat "$work/verdict"
  fi
  rm -rf "$work/first"
  mv "$work/second" "$work/first"
done
echo "equal runs: $false_alarms of $equal are regressions"
[ $((found * 20)) -ge $((pairs * 19)) ] && [ $false_alarms -eq 0 ]
