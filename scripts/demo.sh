#!/usr/bin/env bash
# Records tests/demo/heat.c, an MPI program that knows nothing of profshim, and shows what came out. Called by
# `make demo`, which installs and builds first. By hand: scripts/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."
program=$PWD/build/demo/heat
ranks=2
for needed in build/libprofshim.so build/profshim "$program"; do
  [ -e "$needed" ] || { echo "demo: $needed is not built; run: make demo" >&2; exit 2; }
done

# A launcher for any machine: more ranks than cores, as root, in a container that forbids reading other processes'
# memory, without a network.
launcher=(mpirun)
command -v mpirun.openmpi >/dev/null 2>&1 && launcher=(mpirun.openmpi)
case "$("${launcher[@]}" --version 2>&1)" in
*OpenRTE* | *"Open MPI"* | *open-mpi*)
  launcher+=(--oversubscribe --bind-to none --mca btl "self,vader" --mca btl_vader_single_copy_mechanism none)
  if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
  ;;
esac
launcher+=(-n "$ranks")

# Events of one file: how often each MPI function and each NVTX range was seen, iterations as one.
count_events() {  # FILE
  sed -n 's/.*"ph": *"X".*"name": *"\([^"]*\)".*/\1/p' "$1" | sed 's/^iteration [0-9]*$/iteration N/' | sort | uniq -c |
    sort -rn | awk '{n = $1; $1 = ""; printf "      %6d %s\n", n, $0}'
}

record() {  # TITLE SPEC FOLDER
  local folder=build/demo/traces/$3 trace
  rm -rf "$folder"
  echo
  echo "== $1"
  echo "   LD_PRELOAD=build/libprofshim.so PROFSHIM_SPEC=$2 mpirun -n $ranks build/demo/heat"
  LD_PRELOAD=$PWD/build/libprofshim.so PROFSHIM_SPEC=$PWD/$2 "${launcher[@]}" "$program" | sed 's/^/   heat says: /'
  echo "   written to $folder:"
  build/profshim ls "$folder" | sed 's/^/   /'
  while IFS= read -r trace; do
    echo "   events in $trace:"
    count_events "$trace"
  done < <(find "$folder" -name '*.pt.trace.json' | sort)
  find "$folder" -name '*.pt.trace.json' -print0 | sort -z | xargs -0 build/profshim verify | sed 's/^/   /'
}

record "steps are NVTX ranges \"iteration N\"" config/examples/demo-nvtx.toml nvtx
record "steps are calls of the function heat_step" config/examples/demo-symbol.toml symbol

cat <<'TEXT'

Look at a trace: open https://ui.perfetto.dev and drop a file from build/demo/traces on it (nothing is uploaded), or
chrome://tracing; or give a step folder to HTA or the PyTorch TensorBoard plugin. Your own job:

  LD_PRELOAD=$PWD/build/libprofshim.so PROFSHIM_RANKS=all mpirun -n 4 ./your_program
TEXT
