#!/usr/bin/env bash
# Runs test programs and counts. Called by `make test`, which builds them first.
#   scripts/run_tests.sh PROGRAM...     each a GoogleTest program
# The last line is "N passed, N failed"; exit 1 when a test failed, a program crashed or hung, or none ran.
set -u
cd "$(dirname "$0")/.." || exit 2
results=${PROFSHIM_TEST_RESULTS:-build/test-results}
limit=${PROFSHIM_TEST_SECONDS:-1200} # per program
unset PROFSHIM_TEST_SECONDS PROFSHIM_TEST_RESULTS # a program under test would say that it does not know it
mkdir -p "$results"

passed=0
failed=0
for program in "$@"; do
  name=${program#build/}
  report=$results/${name//\//-}.xml
  rm -f "$report"
  echo "== $name"
  timeout --kill-after=10 "$limit" "$program" --gtest_brief=1 --gtest_output="xml:$report" </dev/null
  status=$?
  # GoogleTest writes the report at its end: no report, or a status that is neither "all passed" nor "some failed",
  # is a crash or a hang and counts as one failure beside those in the report.
  tests=0
  bad=0
  if [ -s "$report" ]; then
    read -r tests bad < <(sed -n 's/^<testsuites tests="\([0-9]*\)" failures="\([0-9]*\)".* errors="\([0-9]*\)".*/\1 \2 \3/p' \
      "$report" | awk 'NR == 1 {print $1, $2 + $3}')
    skipped=$(grep -c 'result="skipped"' "$report")
    tests=$((tests - skipped))
    [ "$skipped" -eq 0 ] || echo "   $skipped skipped"
  fi
  if [ "$tests" -eq 0 ]; then
    echo "   $name ran no test (exit status $status)"
    bad=1 tests=1
  elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    echo "   $name ended with status $status after its tests"
    bad=1 tests=$((tests + 1))
  fi
  passed=$((passed + tests - bad))
  failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
