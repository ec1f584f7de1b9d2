#!/usr/bin/env bash
# Runs the core of the end-to-end tests in a German locale, whose decimal point is a comma, and counts as run_tests.sh
# does. A preloaded library calls setlocale() in every program that a test starts: the jobs and the profshim command.
#   scripts/locale_tests.sh PROGRAM         GTEST_FILTER chooses other tests
#   scripts/locale_tests.sh --environment   prints the variables, for run_tests.sh
set -u
cd "$(dirname "$0")/.." || exit 2
[ "${1:-}" = --environment ] || exec scripts/run_tests.sh "${@/#/locale:}"

# Suites that write or read numbers: kinds of jobs, and commands. Tests that choose a locale themselves (*Locale*) need
# no other.
core='MpiJobs MpiPolls EventsLeftOut Steps StepsFromNvtx StepCounters MarkedPhases PhaseCounters System CpuUse
  TorchInputs TorchSummary GpuTrace GpuCapture GpuRecover SystemGpu NcclCalls
  Summary SummaryViews WrittenSummary WrittenSummaryFile Report MemoryPage Compare Merge Verify Convert Ls Init CheckCommand
  PhaseCommands Doctor Kill Retention'

# Tests of these suites that repeat a job for the sake of its times, with other releases of CUPTI, of a full buffer, or
# of names alone: they take long, and no locale changes that.
others='Compare.FindsNoDifferenceInTenRunsOfOneProgram Compare.NeighborsOnTheMachineFailNoRun
  Compare.FindsSlowerSteps Compare.WithoutStepsTheWholeWindowCounts Merge.AlignsShiftedClocks
  Kill.FilesWithAFinalNameAreCompleteAtAnyMoment Kill.TheNewestTracesThatRetentionKeepsAreThere
  Kill.RecoveryLosesAtMostTheLastSecond */GpuCapture.*/Cupti11 */GpuCapture.*/Cupti12
  */GpuCapture.CuptiReturnsEveryBuffer/* Merge.RpcRequestsHaveArrows'

filter=''
for suite in $core; do filter+="${filter:+:}$suite.*:*/$suite.*"; done
filter+=-$(tr -s "[:space:]" : <<<"$others")

locale=de_DE.UTF-8 locales=$PWD/build/tests/locales set_locale=$PWD/build/tests/apps_locale/set_locale.so
if [ "$(env LC_ALL=$locale LOCPATH="$locales" locale decimal_point 2>/dev/null)" != , ] || [ ! -e "$set_locale" ]; then
  echo "no locale $locale in $locales: make test-apps" >&2
  exit 2
fi
printf '%s\n' "LC_ALL=$locale" "LOCPATH=$locales" "TESTS_PRELOAD=$set_locale" "GTEST_FILTER=$filter"
