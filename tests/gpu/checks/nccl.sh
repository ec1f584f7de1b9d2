# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# NCCL checks. One rank launches a kernel only for a sum with a factor. Two ranks can share a GPU since NCCL 2.30.

nccl_version() { timeout 60 "$python" -c 'import torch; print(*torch.cuda.nccl.version(), sep=".")' 2>"$work/nccl.err" | tail -n 1; }
can_share_gpu() { awk -v version="$1" 'BEGIN {split(version, v, "."); exit !(v[1] * 1000 + v[2] >= 2030)}'; }

# Runs torchrun without rank variables from outside and without a host name, because there may be no DNS.
torchrun() { # NAME SETTINGS RANKS ARGUMENTS...
  local name=$1 settings=$2 ranks=$3
  shift 3
  under_shim "$name" "$settings" env -u RANK -u WORLD_SIZE -u LOCAL_RANK -u LOCAL_WORLD_SIZE "$python" \
    -m torch.distributed.run --nnodes 1 --master_addr 127.0.0.1 --master_port $((20000 + RANDOM % 10000)) \
    --nproc_per_node "$ranks" "$loop" "$@"
}

check_torchrun() {
  torchrun one "$(steps_of 5-7)" 1 12 --collectives || return
  verify_all one
  compare steps "$(trace_of one)" 5 7
  compare whole "$(trace_of one)"
  compare one_rank "$(trace_of one)"
  said_problems "$(trace_of one)"
  key "$(grep -ac 'oneRankReduce' "$(trace_of one)") lines with oneRankReduce"
}

# Returns 1 and reports the reason if two ranks are impossible.
two_ranks() {
  local version
  version=$(nccl_version)
  if [ -z "$version" ]; then
    fail "the version of NCCL is not known: $(last_words "$work/nccl.err")"
    return 1
  fi
  if ! can_share_gpu "$version"; then
    skip "NCCL $version refuses two ranks on one GPU (NCCL_MULTI_RANK_GPU_ENABLE is new in 2.30)"
    return 1
  fi
  export NCCL_MULTI_RANK_GPU_ENABLE=1
}

check_torchrun_two() {
  two_ranks || return
  torchrun two "$(steps_of 5-7) ranks.select=all" 2 12 --ddp || return
  verify_all two
  [ "$(traces_of two | wc -l)" -eq 2 ] || fail "$(traces_of two | wc -l) traces instead of two"
  local trace
  for trace in $(traces_of two); do
    compare whole "$trace"
    compare nccl "$trace"
  done
  key "$(kernels_in "$(trace_of two)") kernels on rank 0"
}

# With one rank NCCL chooses no algorithm and may report only the communicator to its plugin.
check_nccl_plugin() {
  local version tasks ranks=1 mode=--collectives
  if can_share_gpu "$(nccl_version)"; then
    export NCCL_MULTI_RANK_GPU_ENABLE=1
    ranks=2 mode=--ddp
  fi
  NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT NCCL_DEBUG_FILE=$work/nccl.%p.log \
    torchrun plugin "$(steps_of 5-7) capture.nccl_profiler=true" "$ranks" 12 "$mode" || return
  verify_all plugin
  version=$(property "$(trace_of plugin)" nccl_profiler_version)
  tasks=$(property "$(trace_of plugin)" nccl_tasks)
  say "- $ranks rank(s): interface ${version:-none}, tasks ${tasks:-none}"
  say "- NCCL: $(cat "$work"/nccl.*.log 2>/dev/null | grep -i 'profiler' | head -3 | tr '\n' ';')"
  said_problems "$(trace_of plugin)"
  key "interface ${version:-none}, tasks ${tasks:-none}, $ranks rank(s)"
  [ -n "$version" ] || fail "NCCL did not load the plugin: $(property "$(trace_of plugin)" problems)"
  [ "$ranks" -eq 1 ] || grep -q '"NCCL algorithm"' "$(trace_of plugin)" || fail "no call says its algorithm"
}
