# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Describes the machine and records the buffers that CUPTI delivers on it.

check_machine() {
  local torch=
  say "- date: $(date -u +%Y-%m-%d)"
  say "- GPU and driver: $(timeout 20 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -1)"
  say "- kernel: $(uname -sr), $(nproc) cores, clock source $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null || echo unknown)"
  say "- libraries: $libraries"
  [ -z "$python" ] || torch=$(timeout 40 "$python" -c 'import torch; print(torch.__version__, "CUDA", torch.version.cuda, "NCCL", torch.cuda.nccl.version() if torch.version.cuda else None)' 2>&1 | tail -1)
  say "- torch: ${torch:-none} ${python:+($python)}"
  key "$(timeout 20 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)${torch:+, torch $torch}"
  timeout 20 nvidia-smi >/dev/null 2>&1 || fail "nvidia-smi does not work: there is no GPU"
}

# Runs a program and keeps its CUPTI buffers, its output and its trace.
record() { # NAME SETTINGS PROGRAM...
  local name=$1 settings=$2 folder=$recordings/$1
  shift 2
  mkdir -p "$folder"
  under_shim "$name" "$settings debug.cupti_dump=\"$folder\"" "$@" || return
  cp "$work/$name.out" "$folder/output.txt"
  if [ -n "$(trace_of "$name")" ]; then cp "$(trace_of "$name")" "$folder/trace.json"; fi
  [ -n "$(find "$folder" -name 'cupti-*' -size +0)" ] || wrong "$name: no recording was written" "$folder/trace.json"
}
recorded() {
  key "$(find "$recordings" -name 'cupti-*' | wc -l) recordings, $(du -sk "$recordings" | cut -f1) KiB"
  say "- recordings so far: $(find "$recordings" -name 'cupti-*' -printf '%P (%s bytes), ')"
}

check_recordings() {
  record mixed "$(steps_of 2-3)" "$job_shared" mixed 5 10
  far_apart record mixed_static "$(steps_of 2-3)" "$job_static" mixed 5 10
  record graphs "$(steps_of 2-3)" "$job_shared" graphs 5 10
  record graphs_two_windows "$(steps_of 2-3 6-7)" "$job_shared" graphs 9 5
  record graphs_as_one "$(steps_of 2-3) capture.graphs=\"launches\"" "$job_shared" graphs 5 10
  record driver "$(steps_of 2-3)" "$job_shared" driver 5 10
  record late "$(steps_of 2-3)" "$job_shared" late 6 20000
  record allocations "$(steps_of 2-3) capture.profile_memory=true" "$job_shared" allocations 5 10
  record waits "$(steps_of 2-3) capture.cuda_sync=true" "$job_shared" ahead 8 10 500 2
  recorded
}

check_recordings_torch() {
  record torch "$(steps_of 4-5)" "$python" "$loop" 7 --small
  record torch_nccl "$(steps_of 4-5)" "$python" "$loop" 7 --collectives
  record torch_graph "$(steps_of 4-5)" "$python" "$loop" 7 --small --cuda-graph
  recorded
}
