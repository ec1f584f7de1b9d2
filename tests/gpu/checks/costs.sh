# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Checks of costs: time per launch, time at window boundaries, memory.

launches=${GPU_CHECK_LAUNCHES:-100000}

# The window of a job with long steps. CUPTI is off in steps 5 to 20, is enabled about step 25, and is off again from
# step 36 on.
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
  # Equal runs differ by a few percent.
  at_most "$(percent "$idle" "$none")" 5 || beyond "not recording costs $(percent "$idle" "$none") %"
  at_most "$(percent "$after" "$idle")" 5 || beyond "after the window it is $(percent "$after" "$idle") % slower than before"
}

# Records windows of one step each, 1.5 s apart. Between them CUPTI stays on: the limit is that of the time after the last.
check_cost_after_window() {
  local each=$((launches / 5)) before after last=0 step trace steps=(30 45 60 75 90) list=()
  for step in "${steps[@]}"; do list+=("$step-$step"); done
  far_apart under_shim windows "$(steps_of "${list[@]}")" "$job_shared" launches 102 "$each" || return
  verify_all windows
  for trace in $(traces_of windows); do compare whole "$trace"; done
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
  if [ -z "$before" ] || [ -z "$with" ]; then
    fail "a program did not report its peak memory: no VmHWM in /proc/self/status"
    return
  fi
  key "$((before / 1024)) MiB bare, $((with / 1024)) MiB with the library"
  say "- memory of the process: $((before / 1024)) MiB bare, $((with / 1024)) MiB with limits.host_memory = 64 MiB"
  # CUPTI has buffers of its own, which limits.host_memory does not limit.
  at_most $((with - before)) $(((64 + 192) * 1024)) || beyond "it grew by $(((with - before) / 1024)) MiB"
}

# In the first run the host is two steps ahead of the device, in the second as far as its queue allows. A step has 50
# kernels of 1 ms.
check_run_ahead() {
  local depth off before after
  for depth in 2 0; do
    watched "ahead_$depth" "$(steps_of 5-7)" "$job_shared" ahead 40 50 1000 "$depth" || continue
    verify_all "ahead_$depth"
    compare counts "$(trace_of "ahead_$depth")" "$work/ahead_$depth.out"
    compare whole "$(trace_of "ahead_$depth")"
    compare off_after "$(trace_of "ahead_$depth")" "$work/ahead_$depth.log" || continue
    off=$(sed -n 's/.*CUPTI off \([-0-9.]*\) ms.*/\1/p' <<<"$compared")
    before=$(median "$work/ahead_$depth.out" 2 3)
    after=$(median "$work/ahead_$depth.out" 15 39)
    say "- $([ "$depth" -eq 0 ] && echo "without a limit" || echo "$depth steps") ahead: step $(milliseconds "$before") ms before, $(milliseconds "$after") ms after the window"
    key "$([ "$depth" -eq 0 ] && echo "no limit" || echo "$depth steps ahead"): off after $off ms;"
    at_most "$off" 100 || beyond "CUPTI was off $off ms after the last kernel of the window"
  done
}

# Prints the first and the last of the steps FIRST..LAST in which cupti_watch.so logged calls that enable CUPTI.
steps_of_enabling() { # NAME FIRST LAST
  awk -v first="$2" -v last="$3" '
    NR == FNR {if ($1 == "begin_ns") begin[$2] = $3; next}
    $4 ~ /Enable/ && $6 == ($4 ~ /Api/) {
      for (step = first; step <= last; ++step)
        if ($1 < begin[step + 1] && $1 + $2 >= begin[step]) {if (low == "") low = step; if (step > high) high = step}
    }
    END {if (low != "") print low, high}' "$work/$1.out" "$work/$1.log"
}
count_enabling_before() { # NAME STEP
  awk -v step="$2" 'NR == FNR {if ($1 == "begin_ns" && $2 == step) begin = $3; next}
    $4 ~ /Enable/ && $6 == ($4 ~ /Api/) && $1 < begin {n++} END {print n + 0}' "$work/$1.out" "$work/$1.log"
}
# Prints two rows of the table: the begin of a step (nvtxRangePush) and the rest of it. The window is steps 30 to 32.
enabling_rows() { # LABEL NAME FIRST LAST: the steps in which CUPTI is enabled
  local what output=$work/$2.out off going on longer opened
  for what in step_ns push_ns; do
    off=$(longest_of "$what" "$output" 5 20)
    going=$(longest_of "$what" "$output" "$3" "$4")
    on=$(longest_of "$what" "$output" $(($4 + 1)) 32)
    opened=$(longest_of "$what" "$output" 30 30)
    say "| $1: $([ "$what" = push_ns ] && echo begin || echo rest) | $(milliseconds "$(median_of "$what" "$output" 5 20)") |" \
      "$(milliseconds "$off") | $3-$4: $(milliseconds "$going") | $(milliseconds "$on") | $(milliseconds "$opened") |" \
      "$(milliseconds "$(longest_of "$what" "$output" 33 33)") |"
    # Launches take longer with CUPTI enabled. Only time beyond the longest step with CUPTI enabled is blocking.
    [ "$what" = push_ns ] || longer=$((going - (on > off ? on : off)))
  done
  [ "$longer" -gt 0 ] || longer=0
  key "$1: held $(milliseconds "$going") ms while CUPTI goes on, $(milliseconds "$opened") ms by the window, step $(milliseconds "$longer") ms longer;"
  at_most "$going" 10000000 || beyond "$1: a step was held for $(milliseconds "$going") ms while CUPTI was being enabled (limit 10 ms)"
  at_most "$opened" 10000000 || beyond "$1: the step that opens the window was held for $(milliseconds "$opened") ms (limit 10 ms)"
  at_most "$longer" 10000000 || beyond "$1: a step waited for $(milliseconds "$longer") ms while CUPTI was being enabled (limit 10 ms)"
}
# The job's thread always launches or waits for kernels, so that a lock that CUPTI holds while it is being enabled makes
# a step longer. Logging adds 1 or 2 us to each call of CUPTI.
check_enable_latency() {
  local name label early late enabling each=$((launches / 3))
  local no_warmup="$window schedule.skip_first=30 schedule.warmup=0 schedule.active=3"
  far_apart watched warm "$(steps_of "$far")" "$job_shared" launches 36 "$each" || return
  far_apart watched cold "$no_warmup" "$job_shared" launches 36 "$each" || return
  far_apart watched cold_busy "$no_warmup" "$job_shared" ahead 36 90 1000 2 || return
  for name in warm cold cold_busy; do
    verify_all "$name"
    compare steps "$(trace_of "$name")" 30 32
  done
  say ""
  say "| ms | steps 5 to 20, CUPTI off: median | longest | longest of those in which CUPTI goes on | longest after them, until 32 | step 30 opens the window | step 33 closes it |"
  say "|---|---|---|---|---|---|---|"
  for name in warm cold cold_busy; do
    case $name in
      warm) label='warm-up' ;;
      cold) label='no warm-up' ;;
      *) label='kernels running' ;;
    esac
    enabling=$(steps_of_enabling "$name" 20 30)
    if [ -z "$enabling" ]; then
      beyond "$label: CUPTI was not switched on in steps 20 to 30"
    else
      enabling_rows "$label" "$name" "${enabling% *}" "${enabling#* }"
    fi
  done
  say ""
  for name in warm cold cold_busy; do
    early=$(count_enabling_before "$name" 20)
    [ "$early" -eq 0 ] || beyond "$name: $early calls that switch on were made before step 20, when CUPTI is to be off"
    late=$(property "$(trace_of "$name")" gpu_recorded_after_us)
    say "- $name: device activity is recorded from ${late:-0} us after the begin of the window on"
    say "- $name: $(awk '$4 ~ /Enable/ && $6 == ($4 ~ /Api/) {n++; sum += $2; if ($2 > most) {most = $2; what = $4 " " $5}}
      END {printf "%d calls that switch on take %.3f ms, the longest is %s: %.3f ms", n, sum / 1e6, what, most / 1e6}' "$work/$name.log")"
    say "- $name: $(awk '$4 ~ /Disable/ || ($4 ~ /Api/ && $6 == 0) {n++; sum += $2} END {printf "%d calls that switch off take %.3f ms", n, sum / 1e6}' "$work/$name.log")"
  done
}
