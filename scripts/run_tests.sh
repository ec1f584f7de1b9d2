#!/usr/bin/env bash
# Runs test programs and counts results. Called by `make test`, which builds them first.
#   scripts/run_tests.sh PROGRAM...     each a GoogleTest program; GTEST_FILTER chooses tests
# PROFSHIM_TEST_JOBS processes (one per core by default) share the tests of a program. Suites that measure times run
# last and alone. The last line is "N passed, N failed". Exit 1 if a test failed, a program crashed or hung, or none
# ran.
set -u
cd "$(dirname "$0")/.." || exit 2

most_tests=20                       # of one suite per process
alone='^(Compare|EndingSignals|Kill|Merge|StepsFromTime|TraceSize)$' # suites

# run_tests.sh --one PROGRAM SECONDS REPORTS FILTER: runs one process and writes its report and status.
if [ "${1:-}" = --one ]; then
  report=$4/$(cksum <<<"$5" | tr ' ' -)
  # Mounts a private /dev/shm if allowed, because jobs recover the spools that killed jobs of the same user left there.
  own=()
  if unshare -m mount -t tmpfs -o mode=1777 own /dev/shm 2>/dev/null; then
    own=(unshare -m sh -c 'mount -t tmpfs -o mode=1777 own /dev/shm && exec "$@"' sh)
  fi
  timeout --kill-after=10 "$3" "${own[@]}" "$2" --gtest_brief=1 --gtest_filter="$5" --gtest_output="xml:$report.xml" \
    </dev/null >"$report.log" 2>&1
  status=$?
  # GoogleTest writes the report at its end. No report, or a status other than "all passed" and "some failed", means a
  # crash or a hang and counts as one more failure.
  tests=0 bad=0 skipped=0
  if [ -s "$report.xml" ]; then
    read -r tests bad < <(sed -n 's/^<testsuites tests="\([0-9]*\)" failures="\([0-9]*\)".* errors="\([0-9]*\)".*/\1 \2 \3/p' \
      "$report.xml" | awk 'NR == 1 {print $1, $2 + $3}')
    skipped=$(grep -c 'result="skipped"' "$report.xml")
    tests=$((tests - skipped))
  fi
  if [ ! -s "$report.xml" ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
    echo "   ended with status $status: $5" >>"$report.log"
    bad=$((bad + 1)) tests=$((tests + 1))
  fi
  echo "$((tests - bad)) $bad $skipped" >"$report.counts"
  # Prints the text in one write, because other processes print too.
  text=$(grep -vE '^(Running main|\[==========\]|\[  (PASSED|SKIPPED) *\]|Note: Google Test filter)' "$report.log")
  [ -z "$text" ] || printf '%s\n' "$text"
  exit 0
fi

results=${PROFSHIM_TEST_RESULTS:-build/test-results}
limit=${PROFSHIM_TEST_SECONDS:-1200} # for each process
jobs=${PROFSHIM_TEST_JOBS:-$(nproc)}
unset PROFSHIM_TEST_SECONDS PROFSHIM_TEST_RESULTS PROFSHIM_TEST_JOBS # the library warns about unknown variables

# Prints filters, one per line, each with at most $most_tests tests of one suite.
portions() {
  "$1" --gtest_list_tests | awk -v most="$most_tests" '
    function flush() { if (filter != "") print suite, filter; filter = ""; count = 0 }
    /^[^ ].*\.( |$)/ { flush(); suite = $1; sub(/\.$/, "", suite); next }
    /^  [^ ]/ { if (count == most) flush(); filter = filter (count++ ? ":" : "") suite "." $1 }
    END { flush() }'
}

passed=0
failed=0
for program in "$@"; do
  name=${program#build/}
  reports=$results/${name//\//-}
  rm -rf "$reports"
  mkdir -p "$reports"
  echo "== $name"
  started=$SECONDS
  list=$(portions "$program")
  for round in "-v $jobs" "-e 1"; do
    read -r which workers <<<"$round"
    awk -v alone="$alone" -v which="$which" '($1 ~ alone) == (which == "-e") {print $2}' <<<"$list" |
      xargs -r -d '\n' -n 1 -P "$workers" "$0" --one "$program" "$limit" "$reports"
  done
  read -r good bad skipped < <(cat "$reports"/*.counts 2>/dev/null | awk '{g += $1; b += $2; s += $3} END {print g + 0, b + 0, s + 0}')
  if [ $((good + bad)) -eq 0 ]; then
    echo "   $name ran no test"
    bad=1
  fi
  echo "   $good passed, $bad failed, $skipped skipped in $((SECONDS - started)) s"
  passed=$((passed + good))
  failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
