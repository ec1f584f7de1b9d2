# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Checks of what the library says beside and into a trace: summaries, phases of kernels, counters, pages, Python calls.

# Runs a comparison of tests/gpu/answers.py.
answer() { # WHAT TRACE ARGUMENTS...
  local line text status
  if [ -z "${2:-}" ] || [ ! -e "$2" ]; then
    fail "$1: there is no trace to compare"
    return 1
  fi
  text=$("${python:-python3}" "$root/tests/gpu/answers.py" "$@" 2>&1)
  status=$?
  while IFS= read -r line; do
    case "$line" in
      FAILED*) fail "$1: ${line#FAILED: }" ;;
      *) say "- $1: $line" ;;
    esac
  done <<<"$text"
  [ "$status" -eq 0 ] || grep -q '^FAILED' <<<"$text" || fail "$1: answers.py ended with status $status"
  return "$status"
}

check_summary() {
  under_shim summary "$(steps_of 3-5) summary.table=auto output.export=chrome_trace,key_averages" "$job_shared" mixed 8 200 || return
  verify_all summary
  answer summary "$(trace_of summary)" "$tool"
  grep -q 'Self CUDA time total' "$work/summary.err" || fail "no table was printed"
  if [ -z "$python" ]; then
    say "- not with PyTorch: there is none"
    return
  fi
  under_shim torch "$(steps_of 5-7) summary.table=auto output.export=chrome_trace,stacks capture.with_stack=true" "$python" "$loop" 10 --small || return
  verify_all torch
  answer summary "$(trace_of torch)" "$tool"
  answer stacks "$(trace_of torch)"
}

check_phase_kernel() {
  printf 'version = 1\n[[phase]]\nname = "optimizer"\nkernel = "*adam*"\n' >"$work/phase.toml"
  PROFSHIM_SPEC=$work/phase.toml under_shim phase 'steps.source=kernel steps.pattern="*adam*" schedule.steps=["3-5"]' "$job_shared" adam 10 25 || return
  verify_all phase
  compare counts "$(trace_of phase)" "$work/phase.out"
  answer phase "$(trace_of phase)" optimizer fused_adam_kernel 3
}

# The GPU is busy for 3 s, with a sample every 100 ms.
check_system_gpu() {
  under_shim system "$(steps_of 3-8) system.gpu=true system.interval_seconds=0.1" "$job_shared" bound 10 300 1000 || return
  verify_all system
  said_problems "$(trace_of system)"
  answer counters "$(trace_of system)" "$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | head -n 1)"
  key "utilization $(grep -aoE '"GPU 0 utilization".*"%":[0-9.]*' "$(trace_of system)" | sed 's/.*://' | sort -n | tail -n 1) % at most"
}

check_host_timing() {
  under_shim host "$(steps_of 3-5) capture.device_timing=host" "$job_shared" mixed 8 50 || return
  verify_all host
  compare hosted "$(trace_of host)" "$work/host.out"
}

check_memory_page() {
  under_shim page "$(steps_of 3-5) capture.profile_memory=true output.export=chrome_trace,memory_timeline" "$job_shared" allocations 8 50 || return
  verify_all page
  answer page "$(trace_of page)"
  if [ -z "$python" ]; then
    say "- not with PyTorch: there is none"
    return
  fi
  under_shim torch "$(steps_of 5-7) capture.profile_memory=true capture.with_stack=true output.export=chrome_trace,memory_timeline" "$python" "$loop" 10 || return
  verify_all torch
  answer page "$(trace_of torch)"
}

# The error reaches the program once the trace and the page are there. Without the library it finds neither.
check_failed_allocation() {
  local settings
  settings="$(steps_of 3-5) capture.profile_memory=true output.export=chrome_trace,memory_timeline"
  GPU_JOB_FOLDER=$work/failed under_shim failed "$settings" "$job_shared" exhaust 8 || return
  verify_all failed
  say "- $(grep '^at_error' "$work/failed.out")"
  grep -q '^at_error traces 1 pages 1$' "$work/failed.out" || fail "trace and page were not there at the error"
  if [ -z "$python" ]; then
    say "- not with PyTorch: there is none"
    return
  fi
  GPU_JOB_FOLDER=$work/torch under_shim torch "$settings" "$python" "$loop" 8 --small --exhaust 4 || return
  verify_all torch
  say "- PyTorch: $(grep '^at_error' "$work/torch.out")"
  grep -q '^at_error traces 1 pages 1$' "$work/torch.out" || fail "PyTorch: trace and page were not there at the error"
}

# The same calls as those that torch.profiler records in another run, and the cost of both per step.
check_python_calls() {
  local name plain
  bare plain "$python" "$loop" 60 --small || return
  under_shim ours "$(steps_of 50-52) capture.python_calls=true" "$python" "$loop" 60 --small || return
  bare theirs "$python" "$loop" 60 --small --torch-profile 50 52 "$work/theirs.json" --with-stack || return
  verify_all ours
  compare whole "$(trace_of ours)"
  answer python "$(trace_of ours)" "$work/theirs.json" 'torch_loop.py\([0-9]+\): work'
  plain=$(median "$work/plain.out" 50 52)
  for name in ours theirs; do say "- $name: a step takes $(percent "$(median "$work/$name.out" 50 52)" "$plain") % longer"; done
  key "$(grep -ac '"cat":"python_function"' "$(trace_of ours)") Python calls"
}
