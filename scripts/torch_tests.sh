#!/usr/bin/env bash
# Runs the tests that need PyTorch with a PyTorch of PyPI, and counts as run_tests.sh does. Called by `make test-torch`.
# Leaves out tests of processes and folders, which `make test` runs with Debian's PyTorch.
#   scripts/torch_tests.sh [--all] PROGRAM     --all leaves out nothing
# If that PyTorch cannot be installed, a line says why and no test runs.
set -u
cd "$(dirname "$0")/.." || exit 2

of_processes='-TorchImport.EndsInTheWay*:*/TorchRanksApart.*:*/TorchLaunchers.*:*/TorchScripts.*/*Workers'
of_processes+=':*/TorchScripts.*/Accumulation:TorchPrograms.PairThat*:TorchPrograms.RanksThatLearn*'
of_processes+=':TorchPrograms.RanksKnown*:TorchPrograms.MpiIsWaited*:TorchPrograms.ChildOfA*:TorchPrograms.SingleProcess*'
of_processes+=':TorchPrograms.Interrupted*:TorchImport.EndsTheSame*:TorchLaunchersWithCuda.*:TorchRlJobs.*:TorchReaders.*'
of_processes+=':TorchMerge.RanksOfOneHost*:TorchMerge.AlignsClocksWithoutSteps:*/TorchMemory.*/workers'
if [ "${1:-}" = --all ]; then of_processes=; shift; fi

python=$(scripts/torch_venv.sh)
case $? in
  0) ;;
  3)
    echo "== SKIPPED: tests with PyTorch 2; the line above says why"
    echo "0 passed, 0 failed"
    exit 0
    ;;
  *)
    echo "0 passed, 1 failed"
    exit 1
    ;;
esac

PROFSHIM_TEST_PYTHON=$python PROFSHIM_TEST_RESULTS=build/test-results/torch GTEST_FILTER="Torch*:*/Torch*$of_processes" \
  exec scripts/run_tests.sh "$@"
