# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Costs: time per launch, time at window boundaries, memory.

launches=${GPU_CHECK_LAUNCHES:-100000}

# Of a job of 42 steps that are far apart. CUPTI is off in steps 5 to 20, and again from step 36 on.
far='30-32'

check_launch_overhead() {
  local none idle recording after
  far_apart bare launches_bare "$job_shared" launches 42 "$launches" || return
  far_apart under_shim launches "$(steps_of "$far")" "$job_shared" launches 42 "$launches" || return
  verify_all launches
  compare counts "$(trace_of launches)" "$work/launches.out"
  none=$(median "$work/launches_bare.out" 5 41)
  idle=$(median "$work/launches.out" 5 20)
  recording=$(median "$work/launches.out" 30 32)
  after=$(median "$work/launches.out" 36 41)
  overhead_table "launch-bound, nvcc program" "$launches" "$none" "library loaded, not recording" "$idle" \
    recording "$recording" "after the window" "$after"
  key "ns per launch: bare $((none / launches)), idle $((idle / launches)), recording $((recording / launches)), after $((after / launches))"
  # Two runs differ by a few per cent.
  at_most "$(percent "$idle" "$none")" 5 || beyond "not recording costs $(percent "$idle" "$none") %"
  at_most "$(percent "$after" "$idle")" 5 || beyond "after the window it is $(percent "$after" "$idle") % slower than before"
}

# Windows of one step each, 1.5 s apart.
check_cost_after_window() {
  local each=$((launches / 5)) before after last=0 step steps=(30 45 60 75 90) list=()
  for step in "${steps[@]}"; do list+=("$step-$step"); done
  far_apart under_shim windows "$(steps_of "${list[@]}")" "$job_shared" launches 102 "$each" || return
  verify_all windows
  [ "$(traces_of windows | wc -l)" -eq "${#steps[@]}" ] || fail "$(traces_of windows | wc -l) traces instead of ${#steps[@]}"
  before=$(median "$work/windows.out" 5 20)
  say ""
  say "| | ns per launch | against before |"
  say "|---|---|---|"
  say "| before the first window | $((before / each)) | |"
  for step in "${steps[@]}"; do
    after=$(median "$work/windows.out" $((step + 4)) $((step + 8)))
    last=$after
    say "| after step $step | $((after / each)) | $(percent "$after" "$before") % |"
  done
  say ""
  key "before $((before / each)) ns per launch, after ${#steps[@]} windows $((last / each)) ns ($(percent "$last" "$before") %)"
  at_most "$(percent "$last" "$before")" 5 || beyond "after ${#steps[@]} windows a launch costs $(percent "$last" "$before") % more"
}

check_bound_overhead() {
  local none recording after
  bare bound_bare "$job_shared" bound 10 500 200 || return
  under_shim bound "$(steps_of 5-7)" "$job_shared" bound 10 500 200 || return
  verify_all bound
  none=$(median "$work/bound_bare.out" 1 9)
  recording=$(median "$work/bound.out" 5 7)
  after=$(median "$work/bound.out" 8 9)
  key "recording $(percent "$recording" "$none") %, after $(percent "$after" "$none") %"
  say "- GPU-bound: recording $(percent "$recording" "$none") %, after the window $(percent "$after" "$none") %"
  at_most "$(percent "$recording" "$none")" 1 || beyond "recording a GPU-bound loop costs $(percent "$recording" "$none") %"
  at_most "$(percent "$after" "$none")" 1 || beyond "after the window the loop is $(percent "$after" "$none") % slower"
}

check_memory() {
  local before with
  bare memory_bare "$job_shared" launches 2 "$launches" || return
  under_shim memory "$(steps_of 1-4) limits.host_memory=64MiB limits.on_limit=drop_new" "$job_shared" launches 6 $((20 * launches)) || return
  verify_all memory
  before=$(awk '$1 == "rss_kib" {print $2}' "$work/memory_bare.out")
  with=$(awk '$1 == "rss_kib" {print $2}' "$work/memory.out")
  key "$((before / 1024)) MiB bare, $((with / 1024)) MiB with the library"
  say "- memory of the process: $((before / 1024)) MiB bare, $((with / 1024)) MiB with limits.host_memory = 64 MiB"
  # CUPTI has buffers of its own beside the device's, which limits.host_memory does not limit.
  at_most $((with - before)) $(((64 + 192) * 1024)) || beyond "it grew by $(((with - before) / 1024)) MiB"
}

# The host is two steps ahead of the device, then as far as its queue allows. A step is 50 kernels of 1 ms.
check_run_ahead() {
  local depth off before after
  for depth in 2 0; do
    watched "ahead_$depth" "$(steps_of 5-7)" "$job_shared" ahead 40 50 1000 "$depth" || continue
    verify_all "ahead_$depth"
    compare counts "$(trace_of "ahead_$depth")" "$work/ahead_$depth.out"
    compare whole "$(trace_of "ahead_$depth")"
    compare off_after "$(trace_of "ahead_$depth")" "$work/ahead_$depth.log" || continue
    off=$("$check_trace" off_after "$(trace_of "ahead_$depth")" "$work/ahead_$depth.log" | sed -n 's/.*CUPTI off \([-0-9.]*\) ms.*/\1/p')
    before=$(median "$work/ahead_$depth.out" 2 3)
    after=$(median "$work/ahead_$depth.out" 15 39)
    say "- $([ "$depth" -eq 0 ] && echo "without a limit" || echo "$depth steps") ahead: step $(milliseconds "$before") ms before, $(milliseconds "$after") ms after the window"
    key "$([ "$depth" -eq 0 ] && echo "no limit" || echo "$depth steps ahead"): off after $off ms;"
    at_most "$off" 100 || beyond "CUPTI was off $off ms after the last kernel of the window"
  done
}

# nvtxRangePush of step 6 begins the window, that of step 5 the warm-up, that of step 9 ends the window.
boundary() { # LABEL NAME LIMIT-MS
  local label=$1 output=$work/$2.out limit=$3 what first last row='' held
  for what in push_ns step_ns; do
    for first in 1 5 6 9; do
      last=$((first == 1 ? 4 : first))
      row+=" $(milliseconds "$(median_of "$what" "$output" "$first" "$last")") |"
    done
  done
  say "| $label |$row $(fact "$(trace_of "$2")" gpu_recorded_after_us) |"
  held=$(median_of push_ns "$output" 6 6)
  key "$label: $(milliseconds "$held") ms;"
  at_most "$held" $((limit * 1000000)) || beyond "$label: the step that opens the window was held for $(milliseconds "$held") ms, wanted are $limit"
}
check_enable_latency() {
  local name
  local cold="$window schedule.skip_first=6 schedule.warmup=0 schedule.active=3"
  # The log makes each of some hundred calls of CUPTI a microsecond or two longer: it has runs of its own.
  under_shim warm "$(steps_of 6-8)" "$job_shared" launches 12 2000 || return
  under_shim cold "$cold" "$job_shared" launches 12 2000 || return
  under_shim cold_busy "$cold" "$job_shared" ahead 14 20 1000 2 || return
  watched logged "$cold" "$job_shared" launches 12 2000 || return
  watched logged_busy "$cold" "$job_shared" ahead 14 20 1000 2 || return
  for name in warm cold cold_busy logged logged_busy; do
    verify_all "$name"
    compare steps "$(trace_of "$name")" 6 8
  done
  say ""
  say "| ms | begin of steps 1 to 4 | begin of 5 | begin of 6, the window | begin of 9, after it | steps 1 to 4 | step 5 | step 6 | step 9 | gpu_recorded_after_us |"
  say "|---|---|---|---|---|---|---|---|---|---|"
  boundary "step 5 is warm-up" warm 10
  boundary "no warm-up" cold 10
  boundary "no warm-up, kernels running" cold_busy 10
  say ""
  for name in logged logged_busy; do
    say "- $name: $(awk '$4 ~ /Enable/ && $6 == ($4 ~ /Api/) {n++; sum += $2; if ($2 > most) {most = $2; what = $4 " " $5}}
      END {printf "%d calls that switch on take %.3f ms, the longest is %s: %.3f ms", n, sum / 1e6, what, most / 1e6}' "$work/$name.log")"
    say "- $name: $(awk '$4 ~ /Disable/ || ($4 ~ /Api/ && $6 == 0) {n++; sum += $2} END {printf "%d calls that switch off take %.3f ms", n, sum / 1e6}' "$work/$name.log")"
  done
}
