#!/usr/bin/env bash
# Runs programs under the library on a real GPU and checks every trace against the launches that the program reports.
#   scripts/gpu_check.sh                 all checks; exit status 1 if one failed or none passed
#   scripts/gpu_check.sh --dry-run       lists the checks: name, needs, maximum seconds, subject; runs nothing
#   scripts/gpu_check.sh --only NAME...  the named checks
# It builds nothing: run `make gpu-programs` where nvcc is, then take the checkout with build/gpu to the machine. It
# fetches nothing there. It skips checks that need Python, torch or a compiler where these are missing, and says so.
#
# Environment:
#   OUT                     folder of the results (build/gpu-check)
#   GPU_CHECK_SECONDS       time for everything (480): checks beyond it are skipped
#   GPU_CHECK_KEEP_MIB      size of each archive of results at most (16)
#   GPU_CHECK_BUNDLE        folder of the programs (build/gpu)
#   GPU_CHECK_PYTHON        Python interpreter, even if its torch sees no GPU; "none": skips checks that need torch
#   GPU_CHECK_FIGURES_ONLY  1: a figure beyond its limit is reported and is no failure
#   GPU_CHECK_LAUNCHES      launches per step of the launch-bound loops (100000)
#   GPU_CHECK_STEP_MS       least length of a step in checks that need CUPTI off before the first window (100)
#   GPU_CHECK_HIDE_DEVICE   NAME=VALUE that hides the GPU from a program (CUDA_VISIBLE_DEVICES=)
#
# $OUT gets four files at most: RESULTS-section.md for tests/gpu/RESULTS.md, log.txt, recordings.tar.gz (raw CUPTI
# buffers for tests/recordings), evidence.tar.gz (output of all checks, traces of failed ones). They always
# hold all results so far, so that a kill loses only the running check.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
out=${OUT:-$root/build/gpu-check}
limit=${GPU_CHECK_SECONDS:-480}
reserve=$((limit / 48)) # seconds for writing the results
bundle=${GPU_CHECK_BUNDLE:-$root/build/gpu}
shim=$bundle/libprofshim.so
tool=$bundle/profshim
check_trace=$bundle/check_trace
job_shared=$bundle/gpu_job_shared
job_static=$bundle/gpu_job_static

# NAME|NEEDS|MAXIMUM SECONDS|SUBJECT. Recordings come first, then basic checks, then long ones, because the time limit
# skips the last ones.
checks='machine|gpu|30|this machine: GPU, driver, CUDA, CUPTI, torch
recordings|gpu|60|raw CUPTI buffers of programs: streams, copies, graphs, driver API, memory, waits
recordings_torch|torch|90|raw CUPTI buffers of PyTorch: training, CUDA graphs, NCCL
shared|gpu|40|a program with dynamic cudart: kernels on two streams, copies, memset; counts, launches, verify
static|gpu|40|the same with static cudart
two_windows|gpu|40|two windows in one process, both whole
graphs|gpu|40|CUDA graphs: a record for each node, each with its launch
two_windows_graphs|gpu|90|graphs that are older than the first enable of CUPTI: nodes and launches joined in two windows
torch_loop|torch|60|PyTorch training: every kernel has its launch, verify
torch_agrees|torch|60|kernels, counts and times are those that torch.profiler sees in the same run
after_torch_profiler|torch|60|a window after torch.profiler has ended in the same process
init_for_cuda_graphs|torch|60|an empty torch.profiler session before the window, as libraries do it for CUDA graphs
torch_beside|torch|60|torch.profiler inside a window: both end well, its trace has kernels, ours says what it lost
torchrun|torch|90|torchrun with NCCL, one rank: kernels of NCCL, launched by its calls
nccl_plugin|torch|90|the profiler plugin of NCCL is loaded and told of operations
torchrun_two|torch|120|two ranks on one GPU, where NCCL allows it
driver|gpu|40|cuLaunchKernel
late|gpu|40|kernels that end after their window are in it, and nothing launched after it
busy|gpu|60|kernels of known length, within 2 %
run_ahead|gpu|60|the host runs ahead of the GPU: CUPTI is off soon after the last kernel of the window
enable_latency|gpu|60|time that the thread is held while CUPTI goes on and where a window begins
same_result|gpu|40|output and exit status with and without the library
no_visible_device|gpu|60|without a visible GPU the program gets its own error
kernel_steps|gpu|40|steps from kernel names under gradient accumulation
profiler_api_shared|gpu|40|steps from cudaProfilerStart and Stop, dynamic cudart
profiler_api_static|gpu|40|the same with static cudart, seen through callbacks of CUPTI
no_cupti|gpu|40|without CUPTI: host calls by symbol, and the trace says what is missing
profile_memory|gpu|60|allocations and releases of device memory, all of them
memory_page|gpu|60|the page about device memory over time
failed_allocation|gpu|60|trace and page are on disk before the program learns that an allocation failed
summary|gpu|60|summary-rank*.json equals the summary of the trace; stacks have the time of their kernels
phase_kernel|gpu|40|a phase is a run of launches of a kernel
system_gpu|gpu|40|utilization, memory, clocks and power, by NVML
host_timing|gpu|40|device_timing = "host": calls alone
python_calls|torch|90|Python calls beside kernels, those that torch.profiler sees
cupti_questions|gpu|120|answers of CUPTI itself: flushes, clocks, records, cost
launch_overhead|gpu|90|4 M empty kernels: bare, idle, recording, after the window
cost_after_window|gpu|60|cost of a launch after five windows against before the first
bound_overhead|gpu|60|GPU-bound loop: recording costs at most 1 %, after the window nothing
compile_reduce_overhead|torch|150|torch.compile(mode="reduce-overhead"): graphs of Inductor, each with its launch
unmodified|torch|150|jobs of JAX, CuPy, Triton, transformers and Lightning without a spec: same output, whole traces
torch_overhead|torch|120|launch-bound PyTorch loop: bare, idle, recording, torch.profiler recording
memory|gpu|120|10 M launches in a window of limited memory: the process stays within the limit'
# Checks whose traces are kept even if they pass.
kept_traces=' torch_agrees torchrun compile_reduce_overhead unmodified '

dry_run=false
only=()
while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry_run=true ;;
    --only) shift; while [ $# -gt 0 ] && [[ $1 != --* ]]; do only+=("$1"); shift; done; continue ;;
    *) echo "gpu_check: unknown option $1; see the head of scripts/gpu_check.sh" >&2; exit 2 ;;
  esac
  shift
done
for name in ${only[@]+"${only[@]}"}; do
  grep -q "^$name|" <<<"$checks" || { echo "gpu_check: there is no check \"$name\"; --dry-run lists them" >&2; exit 2; }
done
wanted() {
  [ ${#only[@]} -eq 0 ] && return 0
  local name
  for name in "${only[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

if $dry_run; then
  while IFS='|' read -r name needs most what; do
    wanted "$name" && printf '%-24s %-6s %4s s  %s\n' "$name" "$needs" "$most" "$what"
  done <<<"$checks"
  exit 0
fi

for needed in "$shim" "$tool" "$check_trace" "$job_shared" "$job_static"; do
  [ -e "$needed" ] || { echo "gpu_check: $needed is not built; run: make gpu-programs (needs nvcc)" >&2; exit 2; }
done
mkdir -p "$out" || exit 2
base=$(mktemp -d) || exit 2
recordings=$base/recordings
evidence=$base/evidence
mkdir -p "$recordings" "$evidence" "$base/state"
results=$out/RESULTS-section.md
log=$out/log.txt
sections=$base/sections
remarks=$base/remarks
rm -f "$results" "$out/recordings.tar.gz" "$out/evidence.tar.gz"
: >"$log"
: >"$sections"
: >"$remarks"

note() { printf '%s\n' "$*" | tee -a "$log"; }
remark() {
  note "$*"
  printf -- '- %s\n' "$*" >>"$remarks"
}
# Prints at least 1, because `timeout 0` waits without end.
seconds_left() { echo $((limit > SECONDS ? limit - SECONDS : 1)); }

# ---- the machine -----------------------------------------------------------------------------------------------------

python=
find_python() {
  local candidate
  if [ -n "${GPU_CHECK_PYTHON:-}" ]; then
    [ "$GPU_CHECK_PYTHON" = none ] || python=$GPU_CHECK_PYTHON
    return
  fi
  for candidate in "${PYTHON:-}" python3 /opt/torch/.venv/bin/python3; do
    [ -n "$candidate" ] || continue
    if timeout 120 "$candidate" -c 'import torch, sys; sys.exit(0 if torch.cuda.is_available() else 1)' 2>/dev/null; then
      python=$candidate
      return
    fi
  done
}
find_python

# Prints folders of the toolkit and of torch's wheels, where gpu_job_shared finds a libcudart of its major version.
library_folders() {
  local folder
  for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" "${CUDA_HOME:-/usr/local/cuda}/lib" "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64" \
    "${python:+$(timeout 120 "$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))' 2>/dev/null)/nvidia/cu13/lib}" \
    /usr/local/nvidia/lib64; do
    [ -d "$folder" ] && printf '%s:' "$folder"
  done
}
# Library path for the programs of the bundle; PyTorch finds its own libraries. The user's LD_LIBRARY_PATH comes first.
libraries=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$(library_folders)
# shellcheck disable=SC2034  # used by tests/gpu/checks/helpers.sh
libraries=${libraries%:} # an empty entry would be the current directory
export RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1
export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo} GLOO_SOCKET_IFNAME=${GLOO_SOCKET_IFNAME:-lo} # lo always exists

for file in "$root"/tests/gpu/checks/*.sh; do
  # shellcheck source=/dev/null
  . "$file"
done

# ---- results ---------------------------------------------------------------------------------------------------------

declare -A result took key
one_line() { tr '\n|' ' /' | head -c "$1" | sed 's/[; ]*$//'; }
table() {
  echo "| check | result | seconds | key number |"
  echo "|---|---|---|---|"
  local name rest
  while IFS='|' read -r name rest; do
    wanted "$name" && echo "| $name | ${result[$name]:-not run} | ${took[$name]:-} | ${key[$name]:-} |"
  done <<<"$checks"
}
# Replaces the results file by a complete new one. In between, the running check appends its lines to it.
write_results() {
  {
    printf '## A run of scripts/gpu_check.sh\n\n'
    table
    echo
    cat "$remarks"
    echo
    cat "$sections"
  } >"$results.new" && mv -f "$results.new" "$results"
}

# Packs FOLDER as $OUT/NAME.tar.gz. Leaves out the largest files if the archive would be too large.
archive() { # NAME FOLDER
  local list=$base/$1.list new=$out/$1.tar.gz.new most=$((${GPU_CHECK_KEEP_MIB:-16} << 20)) dropped=()
  find "$2" -type f -size +0 -printf '%s %P\n' | sort -n >"$list"
  while [ -s "$list" ]; do
    cut -d' ' -f2- "$list" | tar -C "$2" -I 'gzip -1' -cf "$new" -T - 2>>"$log" || break
    if [ "$(stat -c %s "$new")" -le "$most" ]; then
      mv -f "$new" "$out/$1.tar.gz"
      break
    fi
    dropped+=("$(tail -n 1 "$list")")
    sed -i '$d' "$list"
  done
  rm -f "$new"
  [ ${#dropped[@]} -eq 0 ] || remark "files left out of $1.tar.gz, which would be too large (bytes, file): $(printf '%s; ' "${dropped[@]}")"
}
files_in() { find "$1" -type f -printf '%s %P\n' | sort | cksum; }

# Keeps the output of a check, and its traces if it failed.
keep_evidence() { # NAME
  local work=$base/work/$1 traces=()
  [ -d "$work" ] || return
  if [ "${result[$1]}" = FAILED ] || [[ $kept_traces == *" $1 "* ]]; then traces=(-o -name '*.json'); fi
  mkdir -p "$evidence/$1"
  (cd "$work" && find . -type f -size -64M \( -name '*.out' -o -name '*.err' -o -name '*.log' "${traces[@]}" \) \
    -exec cp --parents {} "$evidence/$1" \;) 2>>"$log"
}

# ---- one check -------------------------------------------------------------------------------------------------------

# Kills every process that a check started, even in another session: all have GPU_CHECK_MARK=MARK in their environment.
end_processes() { # MARK
  local folder
  for _ in 1 2; do
    grep -lzsxF "GPU_CHECK_MARK=$1" /proc/[0-9]*/environ | xargs -r -n 1 dirname | while read -r folder; do
      kill -KILL "${folder#/proc/}" 2>/dev/null
    done
  done
}

# Ends the running check and all processes that it started. A process that hangs in the driver is left behind.
end_check() { # MARK
  local tries
  kill -TERM "$running" 2>/dev/null # its shell ends when the program that it waits for has ended
  end_processes "$1"
  for tries in {1..40}; do
    kill -0 "$running" 2>/dev/null || return
    [ "$tries" -ne 20 ] || kill -KILL "$running" 2>/dev/null
    sleep 0.1
  done
  disown "$running"
}

run_check() { # NAME SECONDS
  local name=$1 begin=$SECONDS deadline=$((SECONDS + $2)) state=$base/state/$1 status
  [ "$deadline" -le $((limit - reserve)) ] || deadline=$((limit - reserve))
  (
    trap - INT
    trap 'exit 143' TERM
    export GPU_CHECK_MARK=$$.$name
    work=$base/work/$name
    limit=$((deadline - 1)) # ends its programs before the check itself is killed
    mkdir -p "$work"
    "check_$name"
    : >"$state.ended"
  ) </dev/null &
  running=$!
  while kill -0 "$running" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ]; do sleep 0.05; done
  if kill -0 "$running" 2>/dev/null; then
    end_check "$$.$name"
    fail "the check was killed after $((SECONDS - begin)) s"
  fi
  wait "$running" 2>/dev/null
  status=$?
  running=
  end_processes "$$.$name"
  [ -e "$state.ended" ] || [ -s "$state.failed" ] || fail "the check ended early, with status $status"
  took[$name]=$((SECONDS - begin))
  key[$name]=$(head -c 1000 "$state.key" 2>/dev/null | one_line 300)
  if [ -s "$state.failed" ]; then
    result[$name]=FAILED
    key[$name]="${key[$name]:+${key[$name]}; }$(head -n 1 "$state.failed" | one_line 300)"
  elif [ -s "$state.skipped" ]; then
    result[$name]=skipped
    key[$name]=$(one_line 200 <"$state.skipped")
  else
    result[$name]=ok
  fi
  note "$(printf '%-8s' "${result[$name]}") $name (${took[$name]} s) ${key[$name]}"
}

finish() {
  trap - TERM INT
  write_results
  [ "$(files_in "$evidence")" = "$evidence_kept" ] || archive evidence "$evidence"
  [ "$(files_in "$recordings")" = "$recordings_kept" ] || archive recordings "$recordings"
  write_results
  echo
  table | tee -a "$log"
  cat "$remarks"
  rm -rf "$base"
  [[ " ${result[*]} " != *" FAILED "* ]] && [[ " ${result[*]} " == *" ok "* ]]
}
# shellcheck disable=SC2317  # called by a trap
stop() {
  [ -z "$running" ] || end_check "$$.$check"
  result[$check]='stopped by a signal'
  finish
  exit 1
}

# ---- all checks -----------------------------------------------------------------------------------------------------

running=
check=
recordings_kept=$(files_in "$recordings")
evidence_kept=$(files_in "$evidence")
trap stop TERM INT
write_results
while IFS='|' read -r -u 3 check needs most what; do
  wanted "$check" || continue
  if [ "$needs" = torch ] && [ -z "$python" ]; then
    result[$check]=skipped key[$check]='no Python with a torch that sees a GPU'
    continue
  fi
  if [ "$(seconds_left)" -le $((2 * reserve + 1)) ]; then
    result[$check]=skipped key[$check]='no time left (GPU_CHECK_SECONDS)'
    continue
  fi
  say "### $check: $what"
  say ""
  run_check "$check" "$most"
  say ""
  keep_evidence "$check"
  write_results
  if [ "$(files_in "$recordings")" != "$recordings_kept" ]; then
    archive recordings "$recordings"
    recordings_kept=$(files_in "$recordings")
  fi
  if [ "${result[$check]}" = FAILED ]; then
    archive evidence "$evidence"
    evidence_kept=$(files_in "$evidence")
  fi
  rm -rf "${base:?}/work"
done 3<<<"$checks"
finish
