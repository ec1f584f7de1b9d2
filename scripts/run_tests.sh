#!/usr/bin/env bash
# Runs test programs and counts results. Called by `make test`, which builds them first.
#   scripts/run_tests.sh [PASS:]PROGRAM...     each a GoogleTest program; GTEST_FILTER chooses tests
# PASS is `locale` or `torch`: scripts/PASS_tests.sh prints its environment. tests/README.md describes the variables and
# the tables. The last line is "N passed, N failed" and, if some were skipped, ", N skipped". Exit 1 if a test failed or
# was skipped without permission (scripts/test_runner/skips.py), a program crashed or hung, or none ran.
set -u
cd "$(dirname "$0")/.." || exit 2
exec python3 -B scripts/test_runner "$@"
