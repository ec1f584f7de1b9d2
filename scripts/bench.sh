#!/usr/bin/env bash
# Runs the benchmarks and writes their output and the processor's name into tests/bench/README.md, for `make bench`.
#   scripts/bench.sh BUILD BENCH...       BUILD: the folder with libprofshim.so; BENCH: a program of tests/bench
set -euo pipefail
cd "$(dirname "$0")/.."
page=tests/bench/README.md
marker='<!-- make bench writes below this line -->'
built=$1
shift
python=${PROFSHIM_TEST_PYTHON:-/usr/bin/python3}
grep -qF -- "$marker" "$page" || { echo "bench: $page has no line $marker" >&2; exit 2; }

run_all() {
  local bench
  for bench in "$@"; do
    echo "== $(basename "$bench")"
    "$bench"
  done
  echo "== overhead_share"
  "$python" tests/bench/overhead_share.py "$built/libprofshim.so" "$built/bench/overhead_loop"
  echo "== search_cost"
  "$python" tests/bench/search_cost.py "$built/libprofshim.so"
  echo "== python_call_cost"
  "$python" tests/bench/python_call_cost.py "$built/libprofshim.so"
  echo "== torch_cost"
  if "$python" -c 'import torch' 2>/dev/null; then
    "$python" tests/bench/torch_cost.py "$built/libprofshim.so" "$built/tests/bench/libtorch_observer.so"
  else
    echo "$python has no PyTorch"
  fi
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
run_all "$@" | tee "$output"
{
  sed "/^$marker\$/q" "$page"
  printf '%s, %s, %s cores, %s\n\n```\n' "$(date +%Y-%m-%d)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | head -n 1)" "$(nproc)" \
    "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
  cat "$output"
  printf '```\n'
} >"$page.new"
mv "$page.new" "$page"
