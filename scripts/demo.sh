#!/usr/bin/env bash
# Records an MPI program, tests/demo/heat.c, and a CUDA program, tests/apps_gpu/ddp.cpp, and shows the traces. Neither
# program mentions profshim. Called by `make demo`, which installs and builds first. By hand: scripts/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."
program=$PWD/build/demo/heat
ranks=2
for needed in build/libprofshim.so build/profshim "$program"; do
  [ -e "$needed" ] || { echo "demo: $needed is not built; run: make demo" >&2; exit 2; }
done

# The launcher must work on any machine: with more ranks than cores, as root, without a network, and in a container that
# forbids reading the memory of other processes.
launcher=(mpirun)
command -v mpirun.openmpi >/dev/null 2>&1 && launcher=(mpirun.openmpi)
case "$("${launcher[@]}" --version 2>&1)" in
*OpenRTE* | *"Open MPI"* | *open-mpi*)
  launcher+=(--oversubscribe --bind-to none --mca btl "self,vader" --mca btl_vader_single_copy_mechanism none)
  if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
  ;;
esac
launcher+=(-n "$ranks")

# Counts the calls of each MPI function and NVTX range in a file. All iterations count as one range.
count_events() {  # FILE
  sed -n 's/.*"ph": *"X".*"name": *"\([^"]*\)".*/\1/p' "$1" | sed 's/^iteration [0-9]*$/iteration N/' | sort | uniq -c |
    sort -rn | awk '{n = $1; $1 = ""; printf "      %6d %s\n", n, $0}'
}

# Prints a run's files, COUNTER of each trace, whether the traces conform, and the main findings.
show() {  # FOLDER WHAT COUNTER
  local trace
  echo "   written to $1:"
  build/profshim ls "$1" | sed 's/^/   /'
  while IFS= read -r trace; do
    echo "   $2 in $trace:"
    "$3" "$trace"
  done < <(find "$1" -name '*.pt.trace.json' | sort)
  find "$1" -name '*.pt.trace.json' -print0 | sort -z | xargs -0 build/profshim verify | sed 's/^/   /'
  echo "   main findings:"
  build/profshim report "$1" -o "$1/report.html" | sed 's/^/      /'
}

record() {  # TITLE SPEC FOLDER
  local folder=build/demo/traces/$3
  rm -rf "$folder"
  echo
  echo "== $1"
  echo "   LD_PRELOAD=build/libprofshim.so PROFSHIM_SPEC=$2 mpirun -n $ranks build/demo/heat"
  LD_PRELOAD=$PWD/build/libprofshim.so PROFSHIM_SPEC=$PWD/$2 "${launcher[@]}" "$program" | sed 's/^/   heat says: /'
  show "$folder" events count_events
}

# Without the headers of NVTX the programs have no ranges and the library records none.
nvtx=''
grep -q NVTX_INJECTION64_PATH "$program" && nvtx=yes
if [ -n "$nvtx" ]; then
  record "steps are NVTX ranges \"iteration N\"" config/examples/demo-nvtx.toml nvtx
else
  echo "== built without NVTX (scripts/install_deps.sh says why): steps come from functions and kernels instead of ranges"
fi
record "steps are calls of the function heat_step" config/examples/demo-symbol.toml symbol

# ---- CUDA: data-parallel training, one process per GPU ---------------------------------------------------------------

# Uses the machine's GPUs if nvcc built the program, else four simulated GPUs: the same program and library with the
# fake driver, runtime, CUPTI and NCCL of tests/fakes.
gpus=$( (nvidia-smi -L 2>/dev/null || true) | grep -c '^GPU' || true)
gpu_program=$PWD/build/tests/apps_gpu/nvcc/ddp
gpu_environment=()
[ -n "$nvtx" ] || gpu_environment=("PROFSHIM_SET=steps.source=kernel steps.pattern=*adam*")
if [ "$gpus" -gt 0 ] && [ -x "$gpu_program" ]; then
  gpu_ranks=$((gpus < 4 ? gpus : 4))
  gpu_where="on $gpu_ranks real GPU(s)"
else
  gpu_ranks=4
  gpu_program=$PWD/build/tests/apps_gpu/ddp
  gpu_where="on $gpu_ranks SIMULATED GPUs (no GPU here, or no nvcc): times are invented, everything else is real"
  gpu_environment+=("LD_LIBRARY_PATH=$PWD/build/tests/fakes/cuda13${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    "FAKE_CUDA_DEVICES=$gpu_ranks" "FAKE_CUDA_KERNELS=forward=120000,backward=240000,adam=90000" "FAKE_NCCL_MBPS=8000")
fi

# Prints "n kernels (m of NCCL), n copies, ..." of a file, which has one event per line.
count_gpu_events() {  # FILE
  awk '/"ph": *"X"/ {
         if (/"cat": *"kernel"/) { kernels++; if (/"name": *"ncclDevKernel/) nccl++ }
         if (/"cat": *"gpu_memcpy"/) copies++
         if (/"cat": *"cuda_runtime"/ || /"cat": *"cuda_driver"/) calls++
       }
       /"cat": *"ac2g"/ && /"ph": *"f"/ { flows++ }
       END { printf "      %d kernels (%d of NCCL), %d copies, %d CUDA calls, %d arrows from calls to device activity\n",
                    kernels, nccl, copies, calls, flows }' "$1"
}

record_gpu() {
  local folder=build/demo/traces/gpu id=build/demo/ddp.id rank pids=() failed=0
  rm -rf "$folder" "$id"
  echo
  echo "== data-parallel training $gpu_where"
  echo "   RANK=r WORLD_SIZE=$gpu_ranks LD_PRELOAD=build/libprofshim.so PROFSHIM_SPEC=config/examples/demo-gpu.toml ${gpu_program#"$PWD"/}"
  for ((rank = 0; rank < gpu_ranks; rank++)); do
    env "${gpu_environment[@]}" RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$gpu_ranks DDP_ID_FILE="$PWD/$id" \
      LD_PRELOAD="$PWD/build/libprofshim.so" PROFSHIM_SPEC="$PWD/config/examples/demo-gpu.toml" "$gpu_program" 20 \
      >"build/demo/ddp.$rank.out" 2>&1 &
    pids+=($!)
  done
  for rank in "${!pids[@]}"; do
    wait "${pids[$rank]}" || failed=1
    sed 's/^/   ddp says: /' "build/demo/ddp.$rank.out"
  done
  rm -f "$id"
  [ "$failed" -eq 0 ] || { echo "demo: ddp failed" >&2; exit 1; }
  show "$folder" "device activity and CUDA calls" count_gpu_events
}
record_gpu

cat <<'TEXT'

Look at a trace: open https://ui.perfetto.dev and drop a file from build/demo/traces on it (nothing is uploaded), or
chrome://tracing; or give a step folder to HTA or the PyTorch TensorBoard plugin. Your own job:

  LD_PRELOAD=$PWD/build/libprofshim.so PROFSHIM_RANKS=all mpirun -n 4 ./your_program
TEXT
