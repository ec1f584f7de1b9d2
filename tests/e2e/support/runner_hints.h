// Marks that scripts/run_tests.sh finds in the sources of tests, at the begin of a line.
#pragma once

/// Tests that measure times: while one of them runs, no other test runs. `tests` is SUITE.TEST, and may hold a *.
#define RUNS_ALONE(tests) static_assert(sizeof #tests > 1)

/// The tests of `suite` share a job, so they run in one process.
#define RUNS_IN_ONE_PROCESS(suite) static_assert(sizeof #suite > 1)
