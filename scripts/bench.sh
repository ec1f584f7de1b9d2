#!/usr/bin/env bash
# Runs the benchmarks and writes their output and the processor's name into tests/bench/README.md, for `make bench`.
#   scripts/bench.sh BUILD BENCH...       BUILD: the folder with libprofshim.so; BENCH: a program of tests/bench
#   scripts/bench.sh --try BUILD BENCH... runs each as shortly as it can and leaves the page as it is
# Benchmarks of PyTorch use PyPI's (scripts/torch_venv.sh), or that of PROFSHIM_TEST_PYTHON. A benchmark that lacks a module
# is left out by name.
set -euo pipefail
cd "$(dirname "$0")/.."
page=tests/bench/README.md
marker='<!-- make bench writes below this line -->'
short=''
if [ "$1" = --try ]; then short=yes; shift; fi
built=$1
shift
grep -qF -- "$marker" "$page" || { echo "bench: $page has no line $marker" >&2; exit 2; }
system_python=/usr/bin/python3
torch_python=${PROFSHIM_TEST_PYTHON:-$(scripts/torch_venv.sh || echo "$system_python")}

# Arguments: a name; the modules that it needs, with spaces; a Python; its arguments
python_bench() {
  local module
  echo "== $1"
  for module in $2; do
    "$3" -c "import $module" 2>/dev/null || { echo "left out: $3 has no module $module"; return; }
  done
  BENCH_ROUNDS=${short:+1} "${@:3}"
}

run_all() {
  local bench library=$built/libprofshim.so
  for bench in "$@"; do
    echo "== $(basename "$bench")"
    # The number of events
    "$bench" ${short:+20000}
  done
  python_bench overhead_share '' "$system_python" tests/bench/overhead_share.py "$library" calls "$built/bench/overhead_loop"
  python_bench 'overhead_share, PyTorch' torch "$torch_python" tests/bench/overhead_share.py "$library" torch
  python_bench 'search_cost, PyTorch' torch "$torch_python" tests/bench/search_cost.py "$library" torch
  python_bench 'search_cost, MPI' 'numpy mpi4py' "$system_python" tests/bench/search_cost.py "$library" mpi
  python_bench python_call_cost '' "$torch_python" tests/bench/python_call_cost.py "$library"
  python_bench torch_cost torch "$torch_python" tests/bench/torch_cost.py "$library" "$built/tests/bench/libtorch_observer.so"
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
run_all "$@" | tee "$output"
if [ -n "$short" ]; then exit; fi
{
  sed "/^$marker\$/q" "$page"
  printf '%s, %s, %s cores, %s\n\n```\n' "$(date +%Y-%m-%d)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | head -n 1)" "$(nproc)" \
    "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
  cat "$output"
  printf '```\n'
} >"$page.new"
mv "$page.new" "$page"
