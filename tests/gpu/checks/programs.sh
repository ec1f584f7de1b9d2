# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Checks of programs without Python: traces have the device activities that the program reports.

mixed() { # NAME PROGRAM
  under_shim "$1" "$(steps_of 3-5)" "$2" mixed 8 200 || return
  verify_all "$1"
  compare steps "$(trace_of "$1")" 3 5
  compare counts "$(trace_of "$1")" "$work/$1.out"
  compare whole "$(trace_of "$1")"
  key "$(kernels_in "$(trace_of "$1")") kernels"
}
check_shared() { mixed shared "$job_shared"; }
# With static cudart, the program's first CUDA call does not wait for CUPTI, which needs the time before the window.
check_static() { far_apart mixed static "$job_static"; }

# Records two windows of two steps each, with a pause in between. Fails if there are not two traces.
two_windows() { # NAME FIRST-STEP FIRST-STEP PROGRAM...
  local name=$1 first=$2 second=$3 count
  shift 3
  far_apart under_shim "$name" "$(steps_of "$first-$((first + 1))" "$second-$((second + 1))")" "$@" || return
  verify_all "$name"
  count=$(traces_of "$name" | wc -l)
  [ "$count" -eq 2 ] || { fail "$name: $count traces instead of two"; return 1; }
  compare steps "$(traces_of "$name" | head -1)" "$first" $((first + 1))
  compare steps "$(traces_of "$name" | tail -1)" "$second" $((second + 1))
}

check_two_windows() {
  local trace
  two_windows two 3 20 "$job_shared" mixed 24 1000 || return
  for trace in $(traces_of two); do
    compare counts "$trace" "$work/two.out"
    compare whole "$trace"
    key "$(kernels_in "$trace") kernels"
  done
}

check_graphs() {
  local kind
  for kind in shared static; do
    far_apart under_shim "graphs_$kind" "$(steps_of 3-5)" "$bundle/gpu_job_$kind" graphs 8 20 || continue
    verify_all "graphs_$kind"
    compare counts "$(trace_of "graphs_$kind")" "$work/graphs_$kind.out"
    compare whole "$(trace_of "graphs_$kind")"
    compare graphs "$(trace_of "graphs_$kind")" "$work/graphs_$kind.out"
    key "$kind: $(kernels_in "$(trace_of "graphs_$kind")") kernels;"
  done
}

# The programs instantiate their graph before step 0. CUPTI is off until half a second before step 30.
check_two_windows_graphs() {
  local kind trace
  for kind in shared static; do
    two_windows "graphs_$kind" 30 50 "$bundle/gpu_job_$kind" graphs 54 300 || continue
    for trace in $(traces_of "graphs_$kind"); do
      compare counts "$trace" "$work/graphs_$kind.out"
      compare graphs "$trace" "$work/graphs_$kind.out"
      compare whole "$trace"
      key "$kind: $(kernels_in "$trace") kernels;"
    done
  done
  if [ -z "$python" ]; then
    say "- not with PyTorch: there is none"
  elif two_windows torch_graph 30 50 "$python" "$loop" 54 --small --cuda-graph; then
    for trace in $(traces_of torch_graph); do
      compare whole "$trace"
      key "torch: $(kernels_in "$trace") kernels;"
    done
  fi
}

check_driver() {
  under_shim driver "$(steps_of 3-5)" "$job_shared" driver 8 200 || return
  verify_all driver
  compare counts "$(trace_of driver)" "$work/driver.out"
  compare whole "$(trace_of driver)"
}

# The program launches twelve kernels of 50 ms and does not wait: those of steps 3 to 5 run long after the window.
check_late() {
  under_shim late "$(steps_of 3-5)" "$job_shared" late 12 50000 || return
  verify_all late
  compare counts "$(trace_of late)" "$work/late.out"
  compare whole "$(trace_of late)"
}

check_busy() {
  local us
  for us in 100 1000 20000; do
    under_shim "busy_$us" "$(steps_of 3-12)" "$job_shared" busy 15 "$us" || continue
    verify_all "busy_$us"
    # Reading the device's clock and starting the kernel cost some microseconds: more than 2 % of the shortest kernels.
    compare_figure length "$(trace_of "busy_$us")" busy_kernel "$(awk '$1 == "measured_ns" {print $2}' "$work/busy_$us.out")" \
      "$([ "$us" -ge 1000 ] && echo 2 || echo 10)"
  done
}

check_same_result() {
  local mode
  for mode in mixed graphs driver; do
    bare "bare_$mode" "$job_shared" "$mode" 8 50 || continue
    under_shim "with_$mode" "$(steps_of 3-5)" "$job_shared" "$mode" 8 50 || continue
    if diff <(grep per_step "$work/bare_$mode.out") <(grep per_step "$work/with_$mode.out") >>"$log"; then
      say "- $mode: same output, same status"
    else
      fail "$mode: the output differs"
    fi
  done
  try_under_shim wrong "$(steps_of 3-5)" "$job_shared" nonsense 1
  [ $? -eq 2 ] || fail "under the library, a failing program did not keep its exit status (2)"
}

# Expects the same exit status and error messages with and without the library.
same_failure() { # NAME PROGRAM...
  local name=$1 hide=${GPU_CHECK_HIDE_DEVICE:-CUDA_VISIBLE_DEVICES=} without with
  shift
  LD_LIBRARY_PATH=$(library_path "$@") timeout --kill-after=5 "$(seconds_left)" env "$hide" "$@" >"$work/$name.without.out" 2>"$work/$name.without.err"
  without=$?
  try_under_shim "$name" "$window" env "$hide" "$@"
  with=$?
  say "- $name: status $without without the library, $with with it: $(last_words "$work/$name.without.err")"
  key "$name: status $with;"
  [ "$without" -lt 126 ] || fail "$name: the program did not start: $(last_words "$work/$name.without.err")"
  [ "$without" -eq "$with" ] || fail "$name: status $with instead of $without: $(last_words "$work/$name.err")"
  if ! diff "$work/$name.without.out" "$work/$name.out" >>"$log" ||
    ! diff <(grep -v '^profshim' "$work/$name.without.err") <(grep -v '^profshim' "$work/$name.err") >>"$log"; then
    fail "$name: its output differs: $(last_words "$work/$name.err")"
  fi
  return "$with"
}

check_no_visible_device() {
  local kind
  for kind in shared static; do
    same_failure "$kind" "$bundle/gpu_job_$kind" mixed 3 5 && fail "$kind: the program found a device"
  done
  [ -z "$python" ] || same_failure torch "$python" -c 'import torch; print(torch.cuda.is_available(), torch.cuda.device_count())'
}

check_kernel_steps() {
  under_shim kernel_steps 'steps.source=kernel steps.pattern="*adam*" schedule.steps=["3-5"]' "$job_shared" adam 10 25 || return
  verify_all kernel_steps
  compare steps "$(trace_of kernel_steps)" 3 5
  compare counts "$(trace_of kernel_steps)" "$work/kernel_steps.out"
}

profiler_api() { # NAME PROGRAM
  local count
  under_shim "$1" 'steps.source=cuda_profiler_api' "$2" profiler 8 100 || return
  verify_all "$1"
  count=$(traces_of "$1" | wc -l)
  [ "$count" -eq 1 ] || fail "$1: $count windows instead of one"
  compare counts "$(trace_of "$1")" "$work/$1.out"
}
check_profiler_api_shared() { profiler_api profiler_api_shared "$job_shared"; }
check_profiler_api_static() { far_apart profiler_api profiler_api_static "$job_static"; }

check_no_cupti() {
  PROFSHIM_CUPTI=/nonexistent under_shim no_cupti "$(steps_of 3-5)" "$job_shared" mixed 8 50 || return
  verify_all no_cupti
  compare hosted "$(trace_of no_cupti)" "$work/no_cupti.out"
  grep -q '"problems": \[{' "$(trace_of no_cupti)" || fail "the trace does not say that GPU times are missing"
}

# The trace must have the allocations of cudaMalloc and those that PyTorch makes inside its blocks.
check_profile_memory() {
  under_shim allocations "$(steps_of 3-5) capture.profile_memory=true" "$job_shared" allocations 8 50 || return
  verify_all allocations
  compare memory "$(trace_of allocations)" "$work/allocations.out"
  key "cudaMalloc: $(grep -ac '"name":"\[memory\]"' "$(trace_of allocations)") entries;"
  if [ -z "$python" ]; then
    say "- not with PyTorch: there is none"
    return
  fi
  under_shim torch "$(steps_of 5-7) capture.profile_memory=true" "$python" "$loop" 10 --small --allocations || return
  verify_all torch
  compare memory "$(trace_of torch)" "$work/torch.out"
  key "torch: $(grep -ac '"name":"\[memory\]"' "$(trace_of torch)") entries"
}
