#!/usr/bin/env bash
# Runs the tests that need PyTorch with a PyTorch of PyPI, and counts as run_tests.sh does. Called by `make test-torch`.
# Leaves out tests of processes and folders, which `make test` runs with Debian's PyTorch.
#   scripts/torch_tests.sh [--all] PROGRAM     --all leaves out nothing; GTEST_FILTER chooses other tests
#   scripts/torch_tests.sh --environment       prints the variables, for run_tests.sh
# If that PyTorch cannot be installed, a line says why and no test runs.
set -u
cd "$(dirname "$0")/.." || exit 2
if [ "${1:-}" = --all ]; then export TORCH_TESTS=all; shift; fi
[ "${1:-}" = --environment ] || exec scripts/run_tests.sh "${@/#/torch:}"

of_processes='-TorchImport.EndsInTheWay*:*/TorchRanksApart.*:*/TorchLaunchers.*:*/TorchScripts.*/*Workers'
of_processes+=':*/TorchScripts.*/Accumulation:TorchPrograms.PairThat*'
of_processes+=':TorchSpawnedRanks.*:TorchPrograms.MpiIsWaited*:TorchPrograms.ChildOfA*:TorchPrograms.SingleProcess*'
of_processes+=':TorchPrograms.Interrupted*:TorchImport.EndsTheSame*:TorchLaunchersWithCuda.*:TorchRlJobs.*:TorchReaders.*'
of_processes+=':TorchMerge.RanksOfOneHost*:TorchMerge.AlignsClocksWithoutSteps:*/TorchMemory.*/workers'
# profshim itself writes the numbers, and `make test-locale` runs this test, too.
of_processes+=':TorchLocale.*'
if [ "${TORCH_TESTS:-}" = all ]; then of_processes=; fi

python=$(scripts/torch_venv.sh)
status=$?
if [ $status -eq 3 ]; then echo "== SKIPPED: tests with PyTorch 2; the line above says why" >&2; fi
[ $status -eq 0 ] || exit $status
printf '%s\n' "PROFSHIM_TEST_PYTHON=$python" "GTEST_FILTER=Torch*:*/Torch*$of_processes"
