# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Checks of PyTorch on one GPU.

loop=$root/tests/gpu/torch_loop.py

# Records a window of tests/gpu/torch_loop.py, which must be complete.
torch_window() { # NAME FIRST LAST SETTINGS ARGUMENTS...
  local name=$1 first=$2 last=$3 settings=$4
  shift 4
  under_shim "$name" "$(steps_of "$first-$last") $settings" "$python" "$loop" "$@" || return
  verify_all "$name"
  compare steps "$(trace_of "$name")" "$first" "$last"
  compare whole "$(trace_of "$name")"
  said_problems "$(trace_of "$name")"
  key "$(kernels_in "$(trace_of "$name")") kernels"
}

check_torch_loop() { torch_window torch_loop 5 7 "" 12; }

# The library records steps 100 to 102 and torch.profiler 105 to 107. The GPU's clock rate rises in the first second.
check_torch_agrees() {
  under_shim torch_agrees "$(steps_of 100-102)" "$python" "$loop" 110 --torch-profile 105 107 "$work/torch.json" || return
  verify_all torch_agrees
  compare same "$(trace_of torch_agrees)" "$work/torch.json" 1
}

# torch.profiler records steps 3 to 5; we record 9 to 11.
check_after_torch_profiler() {
  torch_window after 9 11 "" 14 --torch-profile 3 5 "$work/torch.json" || return
  grep -q '"cat": "kernel"' "$work/torch.json" || fail "torch.profiler lost its kernels"
  # The clock rate of the GPU rises in the first steps, which torch.profiler recorded.
  compare same "$(trace_of after)" "$work/torch.json" 5
}

# The library takes CUPTI back a second after a session that made no record, because no flush says its end.
check_init_for_cuda_graphs() {
  far_apart torch_window init 30 32 "" 34 --init-for-cuda-graphs 2
  # The empty session may also come between two of our windows, with a graph.
  two_windows between 3 20 "$python" "$loop" 24 --small --cuda-graph --init-for-cuda-graphs 10 || return
  compare whole "$(traces_of between | head -1)"
  compare whole "$(traces_of between | tail -1)"
}

# torch.profiler starts inside our window and takes CUPTI over.
check_torch_beside() {
  under_shim torch_beside "$(steps_of 5-11)" "$python" "$loop" 15 --torch-profile 7 9 "$work/beside.json" || return
  verify_all torch_beside
  grep -q '"cat": "kernel"' "$work/beside.json" || fail "torch.profiler lost its kernels"
  grep -q '"problems": \[{' "$(trace_of torch_beside)" || fail "our trace does not say what was lost"
}

# torch.compile needs Triton and a C compiler.
check_compile_reduce_overhead() {
  local missing='No module named .triton|Cannot find a working triton|Failed to find C compiler|C compiler|Python\.h'
  if ! timeout 60 "$python" -c 'import triton' 2>"$work/triton.err"; then
    skip "there is no triton: $(tail -n 1 "$work/triton.err")"
    return
  fi
  if ! command -v "${CC:-cc}" >/dev/null && ! command -v gcc >/dev/null && ! command -v clang >/dev/null; then
    skip "there is no C compiler, which triton needs"
    return
  fi
  export TORCHINDUCTOR_CACHE_DIR=$base/inductor TRITON_CACHE_DIR=$base/triton
  if ! try_under_shim compiled "$(steps_of 8-10)" "$python" "$loop" 13 --small --compile; then
    if grep -qE "$missing" "$work/compiled.err"; then
      skip "torch.compile does not work here: $(grep -oE "($missing).*" "$work/compiled.err" | tail -n 1 | head -c 200)"
    else
      fail "torch.compile under the library: $(last_words "$work/compiled.err")"
    fi
    return
  fi
  verify_all compiled
  compare steps "$(trace_of compiled)" 8 10
  compare whole "$(trace_of compiled)"
  said_problems "$(trace_of compiled)"
  local graphs
  graphs=$(grep -acE '"name":"cu(da)?GraphLaunch"' "$(trace_of compiled)")
  key "$graphs graph launches, $(kernels_in "$(trace_of compiled)") kernels"
  [ "$graphs" -gt 0 ] || fail "no graph was launched in the window: reduce-overhead made none"
}

check_torch_overhead() {
  local none idle ours theirs after their_after
  far_apart bare torch_bare "$python" "$loop" 42 --launches 20000 || return
  far_apart under_shim torch_ours "$(steps_of "$far")" "$python" "$loop" 42 --launches 20000 || return
  far_apart bare torch_theirs "$python" "$loop" 42 --launches 20000 --torch-profile 30 32 "$work/launches.json" || return
  none=$(median "$work/torch_bare.out" 5 41)
  idle=$(median "$work/torch_ours.out" 5 20)
  ours=$(median "$work/torch_ours.out" 30 32)
  after=$(median "$work/torch_ours.out" 36 41)
  theirs=$(median "$work/torch_theirs.out" 30 32)
  their_after=$(median "$work/torch_theirs.out" 36 41)
  overhead_table "launch-bound, PyTorch" 20000 "$none" "library loaded, not recording" "$idle" recording "$ours" \
    "after the window" "$after" "torch.profiler recording" "$theirs" "after torch.profiler" "$their_after"
  key "ns per launch: bare $((none / 20000)), recording $((ours / 20000)), torch.profiler $((theirs / 20000))"
  at_most $((2 * (ours - none))) $((theirs - none)) || beyond "recording costs more than half of torch.profiler's slowdown"
}
