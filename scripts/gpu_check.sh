#!/usr/bin/env bash
# What only a GPU can show: runs programs under the library on a real GPU and checks every trace against what they did.
#   scripts/gpu_check.sh                 all checks; exit 1 and the names of those that failed
#   scripts/gpu_check.sh --dry-run       lists them, with what each needs; runs nothing
#   scripts/gpu_check.sh --only NAME...  these
# Builds nothing: `make gpu-programs` where nvcc is, then take the checkout with build/gpu to the machine. There, nothing
# is fetched; what is not found (Python, torch) is skipped and said. Takes at most eight minutes.
# Writes into $OUT (default build/gpu-check): RESULTS-section.md for tests/gpu/RESULTS.md, log.txt, recordings/.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
out=${OUT:-$root/build/gpu-check}
limit=${GPU_CHECK_SECONDS:-480}
bundle=$root/build/gpu
shim=$bundle/libprofshim.so
tool=$bundle/profshim
check_trace=$bundle/check_trace
job_shared=$bundle/gpu_job_shared
job_static=$bundle/gpu_job_static
loop=$root/tests/gpu/torch_loop.py

# NAME | NEEDS | WHAT IS CHECKED. Cheap and basic ones first: the time limit cuts the rest.
checks='machine|gpu|what this machine is: GPU, driver, CUDA, CUPTI, torch
shared|gpu|a program with dynamic cudart: kernels on two streams, copies, memset; counts, launches, verify
static|gpu|the same with static cudart
graphs|gpu|CUDA graphs: a record per node, each with its launch
driver|gpu|cuLaunchKernel
late|gpu|kernels that end after their window are in it, and nothing launched after it
busy|gpu|R39: a kernel of known length, within 2 %
same_result|gpu|output and exit status with and without the library
kernel_steps|gpu|R14: steps from kernel names under gradient accumulation
profiler_api_shared|gpu|R15: steps from cudaProfilerStart and Stop, dynamic cudart
profiler_api_static|gpu|the same with static cudart, seen through callbacks of CUPTI
no_cupti|gpu|without CUPTI: host calls by symbol, and the trace says what is missing
launch_overhead|gpu|1 M empty kernels: bare, idle, recording, after the window
bound_overhead|gpu|GPU-bound loop: recording costs at most 1 %, after the window nothing
memory|gpu|10 M launches in a window of limited memory: the process stays within the limit
recordings|gpu|raw CUPTI buffers for tests/recordings
torch_loop|torch|PyTorch training: every kernel has its launch, verify
torch_agrees|torch|the same kernels, counts and times as torch.profiler sees in the same run
torch_beside|torch|torch.profiler inside a window of ours: both end well, its trace has kernels, ours says what was lost
torchrun|torch|torchrun with NCCL, world size 1: kernels of NCCL carry their collective
torchrun_two|torch|two ranks on one GPU, where NCCL allows it
torch_overhead|torch|launch-bound PyTorch loop: bare, idle, recording, torch.profiler recording
cupti_questions|gpu|what CUPTI does here: threads, flushes, clocks, cost by callback filter'

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
  while IFS='|' read -r name needs what; do
    wanted "$name" && printf '%-20s %-6s %s\n' "$name" "$needs" "$what"
  done <<<"$checks"
  exit 0
fi

for needed in "$shim" "$tool" "$check_trace" "$job_shared" "$job_static"; do
  [ -e "$needed" ] || { echo "gpu_check: $needed is not built; run: make gpu-programs (needs nvcc)" >&2; exit 2; }
done
mkdir -p "$out" || exit 2
work=$out/work
rm -rf "$work" "$out/RESULTS-section.md" "$out/log.txt" "$out/recordings"
mkdir -p "$work" "$out/recordings"
results=$out/RESULTS-section.md
log=$out/log.txt
: >"$results"
: >"$log"

# ---- where things are ------------------------------------------------------------------------------------------------

python=
for candidate in "${PYTHON:-}" python3 /opt/torch/.venv/bin/python3; do
  [ -n "$candidate" ] || continue
  if timeout 60 "$candidate" -c 'import torch, sys; sys.exit(0 if torch.cuda.is_available() else 1)' 2>/dev/null; then
    python=$candidate
    break
  fi
done

# gpu_job_shared needs a libcudart of its own major version: that of a toolkit, or of torch's wheels.
library_folders() {
  local folder
  for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" "${CUDA_HOME:-/usr/local/cuda}/lib" "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64" \
    "${python:+$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))' 2>/dev/null)/nvidia/cu13/lib}"; do
    [ -d "$folder" ] && printf '%s:' "$folder"
  done
}
libraries=$(library_folders)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries  # what the user chose comes first
export RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1

# ---- running ---------------------------------------------------------------------------------------------------------

failed=()
skipped=()
passed=()
check_failed=false
note() { printf '%s\n' "$*" | tee -a "$log"; }
say() { printf '%s\n' "$*" | tee -a "$results" >>"$log"; }
fail() { note "   FAILED: $*"; say "- FAILED: $*"; check_failed=true; }

# At least one: `timeout 0` waits without end.
seconds_left() { echo $((limit > SECONDS ? limit - SECONDS : 1)); }

# A program without the library. Output in $work/NAME.out. Fails the check when the program does.
bare() { # NAME PROGRAM...
  local name=$1 status
  shift
  timeout --kill-after=5 "$(seconds_left)" "$@" >"$work/$name.out" 2>"$work/$name.err"
  status=$?
  [ "$status" -eq 0 ] || fail "$name: \"$*\" ended with status $status: $(tail -c 300 "$work/$name.err" | tr '\n' ' ')"
  return "$status"
}

# The same under the library; traces go into $work/NAME.
under_shim() { # NAME SETTINGS PROGRAM...
  local name=$1 settings=$2 status
  shift 2
  rm -rf "${work:?}/$name"
  LD_PRELOAD=$shim PROFSHIM_FOLDER=$work/$name PROFSHIM_SET="limits.disk_free=0 output.gzip=false $settings" \
    timeout --kill-after=5 "$(seconds_left)" "$@" >"$work/$name.out" 2>"$work/$name.err"
  status=$?
  sed 's/^/      /' "$work/$name.err" | head -20 >>"$log"
  [ "$status" -eq 0 ] || fail "$name: \"$*\" ended with status $status: $(tail -c 300 "$work/$name.err" | tr '\n' ' ')"
  return "$status"
}

traces_of() { find "$work/$1" -name '*.pt.trace.json' 2>/dev/null | sort; }
trace_of() { traces_of "$1" | head -1; }

# The comparisons of check_trace; every FAILED line is a failure of the check.
compare() { # WHAT TRACE ARGUMENTS...
  local text line
  if [ -z "${2:-}" ] || [ ! -e "$2" ]; then
    fail "there is no trace to compare"
    return 1
  fi
  text=$("$check_trace" "$@")
  local status=$?
  while IFS= read -r line; do
    say "- $1: $line"
    case "$line" in FAILED*) note "   $1: $line" ;; esac
  done <<<"$text"
  [ "$status" -eq 0 ] || check_failed=true
  return "$status"
}

verify_all() { # NAME
  local text
  if [ -z "$(traces_of "$1")" ]; then
    fail "$1: no trace was written: $(tail -c 300 "$work/$1.err" | tr '\n' ' ')"
    return 1
  fi
  if text=$(traces_of "$1" | tr '\n' '\0' | xargs -0 "$tool" verify 2>&1); then
    say "- verify: $(traces_of "$1" | wc -l) trace(s) conform"
  else
    fail "$1: verify: $(head -c 600 <<<"$text" | tr '\n' ' ')"
  fi
}

window='steps.source=nvtx steps.pattern="step *"'
# Steps FIRST to LAST; the one before is warm-up.
steps_of() { echo "$window schedule.steps=[\"$1-$2\"]"; }

# Median of "step_ns STEP NS" over the steps FIRST..LAST of an output.
median() { # FILE FIRST LAST
  awk -v first="$2" -v last="$3" '$1 == "step_ns" && $2 >= first && $2 <= last {print $3}' "$1" | sort -n |
    awk '{value[NR] = $1} END {if (NR) printf "%.0f", NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2}'
}
percent() { awk -v a="$1" -v b="$2" 'BEGIN {if (b > 0) printf "%+.2f", (a - b) / b * 100; else printf "nan"}'; }
overhead_table() { # WHAT LAUNCHES-PER-STEP BARE-NS [LABEL NS]...
  local launches=$2 none=$3
  say ""
  say "| $1 | ns per launch | against bare |"
  say "|---|---|---|"
  say "| bare | $((none / launches)) | |"
  shift 3
  while [ $# -gt 0 ]; do
    say "| $1 | $(($2 / launches)) | $(percent "$2" "$none") % |"
    shift 2
  done
  say ""
}
at_most() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a <= b)}'; }

# ---- the checks ------------------------------------------------------------------------------------------------------

check_machine() {
  say "- date: $(date -u +%Y-%m-%d)"
  say "- GPU and driver: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -1)"
  say "- kernel: $(uname -sr), $(nproc) cores, clock source $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null || echo unknown)"
  say "- libraries: $libraries"
  say "- torch: ${python:+$("$python" -c 'import torch; print(torch.__version__, "CUDA", torch.version.cuda, "NCCL", torch.cuda.nccl.version())' 2>&1 | tail -1)}${python:-not found}"
  nvidia-smi >/dev/null 2>&1 || fail "nvidia-smi does not work: there is no GPU"
}

mixed() { # NAME PROGRAM
  under_shim "$1" "$(steps_of 3 5)" "$2" mixed 8 200 || return
  verify_all "$1"
  compare steps "$(trace_of "$1")" 3 5
  compare counts "$(trace_of "$1")" "$work/$1.out"
  compare whole "$(trace_of "$1")"
}
check_shared() { mixed shared "$job_shared"; }
check_static() { mixed static "$job_static"; }

check_graphs() {
  local kind
  for kind in shared static; do
    under_shim "graphs_$kind" "$(steps_of 3 5)" "$bundle/gpu_job_$kind" graphs 8 20 || continue
    verify_all "graphs_$kind"
    compare counts "$(trace_of "graphs_$kind")" "$work/graphs_$kind.out"
    compare whole "$(trace_of "graphs_$kind")"
  done
}

check_driver() {
  under_shim driver "$(steps_of 3 5)" "$job_shared" driver 8 200 || return
  verify_all driver
  compare counts "$(trace_of driver)" "$work/driver.out"
  compare whole "$(trace_of driver)"
}

# Twelve launches, each of 50 ms, and no waiting: the work of steps 3 to 5 runs long after the window.
check_late() {
  under_shim late "$(steps_of 3 5)" "$job_shared" late 12 50000 || return
  verify_all late
  compare counts "$(trace_of late)" "$work/late.out"
  compare whole "$(trace_of late)"
}

check_busy() {
  local us
  for us in 100 1000 20000; do
    under_shim "busy_$us" "$(steps_of 3 12)" "$job_shared" busy 15 "$us" || continue
    verify_all "busy_$us"
    # Reading the device's clock and starting the kernel cost some microseconds: of the shortest kernels more than 2 %.
    compare length "$(trace_of "busy_$us")" busy_kernel "$(awk '$1 == "measured_ns" {print $2}' "$work/busy_$us.out")" \
      "$([ "$us" -ge 1000 ] && echo 2 || echo 10)"
  done
}

check_same_result() {
  local mode
  for mode in mixed graphs driver; do
    bare "bare_$mode" "$job_shared" "$mode" 8 50 || continue
    under_shim "with_$mode" "$(steps_of 3 5)" "$job_shared" "$mode" 8 50 || continue
    if diff <(grep per_step "$work/bare_$mode.out") <(grep per_step "$work/with_$mode.out") >>"$log"; then
      say "- $mode: same output, same status"
    else
      fail "$mode: the output differs"
    fi
  done
  LD_PRELOAD=$shim PROFSHIM_FOLDER=$work/wrong "$job_shared" nonsense 1 >/dev/null 2>&1
  [ $? -eq 2 ] || fail "the exit status of a program that fails is not its own"
}

check_kernel_steps() {
  under_shim kernel_steps 'steps.source=kernel steps.pattern="*Adam*" schedule.steps=["3-5"]' "$job_shared" adam 10 25 || return
  verify_all kernel_steps
  compare steps "$(trace_of kernel_steps)" 3 5
  compare counts "$(trace_of kernel_steps)" "$work/kernel_steps.out"
}

profiler_api() { # NAME PROGRAM
  under_shim "$1" 'steps.source=cuda_profiler_api' "$2" profiler 8 100 || return
  verify_all "$1"
  [ "$(traces_of "$1" | wc -l)" -eq 1 ] || fail "$1: $(traces_of "$1" | wc -l) windows instead of one"
  compare counts "$(trace_of "$1")" "$work/$1.out"
}
check_profiler_api_shared() { profiler_api profiler_api_shared "$job_shared"; }
check_profiler_api_static() { profiler_api profiler_api_static "$job_static"; }

check_no_cupti() {
  PROFSHIM_CUPTI=/nonexistent LD_LIBRARY_PATH=$(dirname "$(ldd "$job_shared" | awk '/libcudart/ {print $3}')") \
    under_shim no_cupti "$(steps_of 3 5)" "$job_shared" mixed 8 50 || return
  verify_all no_cupti
  compare hosted "$(trace_of no_cupti)" "$work/no_cupti.out"
  grep -q '"problems": \[{' "$(trace_of no_cupti)" || fail "the trace does not say that GPU times are missing"
}

# Ten steps of 100 000: 1 to 3 idle, 4 warm-up, 5 to 7 recorded, 8 and 9 after the window.
check_launch_overhead() {
  bare launches_bare "$job_shared" launches 10 100000 || return
  under_shim launches "$(steps_of 5 7)" "$job_shared" launches 10 100000 || return
  verify_all launches
  compare counts "$(trace_of launches)" "$work/launches.out"
  local none idle recording after
  none=$(median "$work/launches_bare.out" 1 9)
  idle=$(median "$work/launches.out" 1 3)
  recording=$(median "$work/launches.out" 5 7)
  after=$(median "$work/launches.out" 8 9)
  overhead_table "launch-bound, nvcc program" 100000 "$none" "library loaded, not recording" "$idle" \
    recording "$recording" "after the window" "$after"
  # A run differs from the next by a few per cent: what is measurable is more.
  at_most "$(percent "$idle" "$none")" 5 || fail "not recording costs $(percent "$idle" "$none") %"
  at_most "$(percent "$after" "$idle")" 5 || fail "after the window it is $(percent "$after" "$idle") % slower than before"
}

check_bound_overhead() {
  bare bound_bare "$job_shared" bound 10 500 200 || return
  under_shim bound "$(steps_of 5 7)" "$job_shared" bound 10 500 200 || return
  verify_all bound
  local none recording after
  none=$(median "$work/bound_bare.out" 1 9)
  recording=$(median "$work/bound.out" 5 7)
  after=$(median "$work/bound.out" 8 9)
  say "- GPU-bound: recording $(percent "$recording" "$none") %, after the window $(percent "$after" "$none") %"
  at_most "$(percent "$recording" "$none")" 1 || fail "recording a GPU-bound loop costs $(percent "$recording" "$none") %"
  at_most "$(percent "$after" "$none")" 1 || fail "after the window the loop is $(percent "$after" "$none") % slower"
}

check_memory() {
  bare memory_bare "$job_shared" launches 2 100000 || return
  under_shim memory "$(steps_of 1 4) limits.host_memory=64MiB limits.on_limit=drop_new" "$job_shared" launches 6 2000000 || return
  verify_all memory
  local before with
  before=$(awk '$1 == "rss_kib" {print $2}' "$work/memory_bare.out")
  with=$(awk '$1 == "rss_kib" {print $2}' "$work/memory.out")
  say "- memory of the process: $((before / 1024)) MiB bare, $((with / 1024)) MiB with limits.host_memory = 64 MiB"
  # CUPTI has buffers of its own on the device's side of the driver, which are not ours to limit.
  at_most $((with - before)) $(((64 + 192) * 1024)) || fail "it grew by $(((with - before) / 1024)) MiB"
}

check_recordings() {
  local kind
  for kind in mixed graphs; do
    under_shim "recording_$kind" "$(steps_of 2 3) debug.cupti_dump=\"$out/recordings\"" "$job_shared" "$kind" 5 10 || return
  done
  [ -n "$(find "$out/recordings" -type f -size +0)" ] || fail "no recording was written"
  say "- $(find "$out/recordings" -type f | wc -l) recordings, $(du -sk "$out/recordings" | cut -f1) KiB"
}

check_torch_loop() {
  under_shim torch_loop "$(steps_of 5 7)" "$python" "$loop" 12 || return
  verify_all torch_loop
  compare steps "$(trace_of torch_loop)" 5 7
  compare whole "$(trace_of torch_loop)"
}

# One run: steps 5 to 7 are ours, 10 to 12 torch.profiler's.
check_torch_agrees() {
  under_shim torch_agrees "$(steps_of 5 7)" "$python" "$loop" 15 --torch-profile 10 12 "$work/torch.json" || return
  verify_all torch_agrees
  compare same "$(trace_of torch_agrees)" "$work/torch.json" 1
}

# torch.profiler starts inside our window: it wins.
check_torch_beside() {
  under_shim torch_beside "$(steps_of 5 11)" "$python" "$loop" 15 --torch-profile 7 9 "$work/beside.json" || return
  verify_all torch_beside
  grep -q '"cat": "kernel"' "$work/beside.json" || fail "torch.profiler lost its kernels"
  grep -q '"problems": \[{' "$(trace_of torch_beside)" || fail "our trace does not say what was lost"
}

check_torchrun() {
  under_shim torchrun "$(steps_of 5 7)" "$python" -m torch.distributed.run --standalone --nproc-per-node 1 "$loop" 12 --ddp || return
  verify_all torchrun
  compare whole "$(trace_of torchrun)"
  compare nccl "$(trace_of torchrun)"
}

check_torchrun_two() {
  if ! timeout 60 "$python" -m torch.distributed.run --standalone --nproc-per-node 2 "$loop" 3 --ddp >"$work/two.out" 2>&1; then
    say "- NCCL does not run two ranks on one GPU here: $(grep -m1 -o 'Duplicate GPU detected[^;]*' "$work/two.out" || tail -c 200 "$work/two.out" | tr '\n' ' ')"
    return
  fi
  under_shim torchrun_two "$(steps_of 5 7) ranks.select=all" "$python" -m torch.distributed.run --standalone --nproc-per-node 2 "$loop" 12 --ddp || return
  verify_all torchrun_two
}

check_torch_overhead() {
  bare torch_bare "$python" "$loop" 10 --launches 20000 || return
  under_shim torch_ours "$(steps_of 5 7)" "$python" "$loop" 10 --launches 20000 || return
  bare torch_theirs "$python" "$loop" 10 --launches 20000 --torch-profile 5 7 "$work/launches.json" || return
  local none idle ours theirs after their_after
  none=$(median "$work/torch_bare.out" 1 9)
  idle=$(median "$work/torch_ours.out" 1 3)
  ours=$(median "$work/torch_ours.out" 5 7)
  after=$(median "$work/torch_ours.out" 8 9)
  theirs=$(median "$work/torch_theirs.out" 5 7)
  their_after=$(median "$work/torch_theirs.out" 8 9)
  overhead_table "launch-bound, PyTorch" 20000 "$none" "library loaded, not recording" "$idle" recording "$ours" \
    "after the window" "$after" "torch.profiler recording" "$theirs" "after torch.profiler" "$their_after"
  at_most $((2 * (ours - none))) $((theirs - none)) || fail "recording costs more than half of torch.profiler's slowdown"
}

check_cupti_questions() {
  local program=$bundle/cupti_questions
  if ldd "$program" | grep -q 'not found'; then
    say "- not asked: $(ldd "$program" | grep 'not found' | tr -d '\t' | tr '\n' ' ')"
    return
  fi
  bare cupti_questions "$program" || return
  sed 's/^/- /' "$work/cupti_questions.out" >>"$results"
}

# ---- all of them -----------------------------------------------------------------------------------------------------

{
  echo "## A run of scripts/gpu_check.sh"
  echo
} >>"$results"
while IFS='|' read -r name needs what; do
  wanted "$name" || continue
  if [ "$needs" = torch ] && [ -z "$python" ]; then
    skipped+=("$name (no Python with torch that sees a GPU)")
    continue
  fi
  if [ "$(seconds_left)" -lt 20 ]; then
    skipped+=("$name (the time was used up)")
    continue
  fi
  check_failed=false
  say "### $name: $what"
  say ""
  begin=$SECONDS
  "check_$name"
  say ""
  if $check_failed; then
    failed+=("$name")
    note "FAILED  $name ($((SECONDS - begin)) s)"
  else
    passed+=("$name")
    note "ok      $name ($((SECONDS - begin)) s)"
  fi
done <<<"$checks"

{
  echo "### In sum"
  echo
  echo "- passed: ${passed[*]:-none}"
  echo "- failed: ${failed[*]:-none}"
  for one in ${skipped[@]+"${skipped[@]}"}; do echo "- skipped: $one"; done
} | tee -a "$results"
rm -rf "$work"
[ ${#failed[@]} -eq 0 ] && [ ${#passed[@]} -gt 0 ]
