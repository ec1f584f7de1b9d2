#!/usr/bin/env bash
# Runs test programs again and again on a busy machine: two cores, with four busy loops and with memory pressure, in
# random order, twice as many at once as fit. Called by `make test-steady`. Prints each failure with its round, and
# its log at the end of the line.
#   scripts/steady_tests.sh [PASS:]PROGRAM...     as run_tests.sh; STEADY_ROUNDS (10); GTEST_FILTER chooses tests
# The last line is "N of N rounds without a failure". Exit 1 if a round failed.
set -u
cd "$(dirname "$0")/.." || exit 2
rounds=${STEADY_ROUNDS:-10}
logs=build/steady
rm -rf "$logs"
mkdir -p "$logs"

# The first two of the cores that this process may use.
cores=$(taskset -pc $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{for (i = $1; i <= ($2 == "" ? $1 : $2); ++i) print i}' |
  head -n 2 | paste -sd,)
taskset -pc "$cores" $$ >/dev/null
started=()
# shellcheck disable=SC2317  # called by the traps
end() {
  kill "${started[@]}" 2>/dev/null
  exit "${1:-130}"
}
trap 'end "$?"' EXIT
trap end INT TERM
for _ in 1 2 3 4; do
  (trap - EXIT INT TERM; while :; do :; done) &
  started+=($!)
done
stress-ng --quiet --vm 1 --vm-bytes 60% --vm-keep --timeout 0 &
started+=($!)

good=0
for round in $(seq "$rounds"); do
  log=$logs/$round.log
  PROFSHIM_TEST_SEED=${STEADY_SEED:-random} PROFSHIM_TEST_RESULTS=$logs/$round \
    PROFSHIM_TEST_CORES=${PROFSHIM_TEST_CORES:-4} scripts/run_tests.sh "$@" >"$log" 2>&1 &
  started[5]=$!
  if wait "$!"; then # unlike a command in the foreground, it lets the traps run at once
    good=$((good + 1))
    continue
  fi
  sed -nE 's/^\[  FAILED  \] ([^ ,]+).* \(([0-9]+) ms\)$/\1/p; s/^   (.* must not be skipped here: .*)/\1/p
    s/^   (ended with status .*)/\1/p; s/^   (.* ran no test)/\1/p' "$log" | sort -u | sed "s|^|round $round: |; s|\$|  ($log)|"
done

echo "$good of $rounds rounds without a failure"
[ "$good" -eq "$rounds" ]
