# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# Functions that the checks of scripts/gpu_check.sh share: they run programs, report results and compare traces. Each
# check runs in its own process and writes its results to files. `work` is the check's folder.

# ---- results of the running check ------------------------------------------------------------------------------------

say() { printf '%s\n' "$*" | tee -a "$results" "$sections" >>"$log"; }
fail() {
  note "   FAILED: $*"
  say "- FAILED: $*"
  printf '%s\n' "$*" >>"$base/state/$check.failed"
}
# Reports a measured figure beyond its limit. It is a failure unless GPU_CHECK_FIGURES_ONLY is 1.
beyond() { # TEXT
  if [ "${GPU_CHECK_FIGURES_ONLY:-}" = 1 ]; then
    say "- beyond its limit: $1"
  else
    fail "$1"
  fi
}
# Reports why the check has no result. The check must return after it.
skip() {
  say "- skipped: $*"
  printf '%s\n' "$*" >"$base/state/$check.skipped"
}
# Sets the number that the table of results shows for the check.
key() { printf '%s\n' "$*" >>"$base/state/$check.key"; }

# ---- programs --------------------------------------------------------------------------------------------------------

# Prints the end of the output of a program without the lines of the library.
last_words() { grep -av '^profshim' "$1" | tail -c 250 | tr '\n' ' '; }

library_path() { # PROGRAM...
  case " $*" in
    *" $bundle/"*) echo "$libraries" ;;
    *) echo "${LD_LIBRARY_PATH:-}" ;;
  esac
}

# Runs a program without the library. Its output is in $work/NAME.out. The check fails if the program does.
bare() { # NAME PROGRAM...
  local name=$1 status
  shift
  LD_LIBRARY_PATH=$(library_path "$@") timeout --kill-after=5 "$(seconds_left)" "$@" >"$work/$name.out" 2>"$work/$name.err"
  status=$?
  [ "$status" -eq 0 ] || fail "$name ended with status $status: $(last_words "$work/$name.err"); it was: $*"
  return "$status"
}

# Runs a program under the library, with traces in $work/NAME. The check does not fail if the program does.
try_under_shim() { # NAME SETTINGS PROGRAM...
  local name=$1 settings=$2 status
  shift 2
  rm -rf "${work:?}/$name"
  LD_LIBRARY_PATH=$(library_path "$@") LD_PRELOAD=$shim PROFSHIM_FOLDER=$work/$name PROFSHIM_SET="limits.disk_free=0 output.gzip=false $settings" \
    timeout --kill-after=5 "$(seconds_left)" "$@" >"$work/$name.out" 2>"$work/$name.err"
  status=$?
  sed 's/^/      /' "$work/$name.err" | head -20 >>"$log"
  return "$status"
}

under_shim() { # NAME SETTINGS PROGRAM...
  local name=$1 status
  try_under_shim "$@"
  status=$?
  shift 2
  [ "$status" -eq 0 ] || fail "$name ended with status $status: $(last_words "$work/$name.err"); it was: $*"
  return "$status"
}

# Runs one of the functions above with long steps, so that CUPTI is off ten steps before the first window: the library
# enables CUPTI half a second before it.
far_apart() { GPU_JOB_STEP_MS=${GPU_CHECK_STEP_MS:-100} "$@"; }

# Runs a program under the library and logs in $work/NAME.log when CUPTI was enabled and disabled.
watched() { # NAME SETTINGS PROGRAM...
  PROFSHIM_CUPTI=$bundle/cupti_watch.so CUPTI_WATCH_LOG=$work/$1.log under_shim "$@"
}

window='steps.source=nvtx steps.pattern="step *"'
# Prints the settings that record STEPS, written as "3-5", "8-9". The step before each window is warm-up.
steps_of() { # STEPS...
  local list
  list=$(printf '"%s",' "$@")
  echo "$window schedule.steps=[${list%,}]"
}

# ---- traces ----------------------------------------------------------------------------------------------------------

traces_of() { find "$work/$1" -name '*.pt.trace.json' 2>/dev/null | sort -V; }
trace_of() { traces_of "$1" | head -1; }
# Prints a member of the trace's "profshim" object.
property() { # TRACE KEY
  [ -e "$1" ] || return 1
  grep -aoE -m1 "^ *\"$2\": (\[[^]]*\]|\{[^}]*\}|\"[^\"]*\"|[^,]*)" "$1" | head -1 | sed 's/^[^:]*: //'
}
said_problems() { # TRACE
  local problems
  problems=$(property "$1" problems) || return
  [ "$problems" = '[]' ] || say "- problems in $(basename "$1"): $(head -c 600 <<<"$problems")"
}

# Reports a wrong trace as a failure, with two exceptions that the trace states. If a busy machine enabled CUPTI late,
# reports a figure beyond its limit. CUPTI 13.0, once enabled again, may join graph nodes to wrong launches: a note.
wrong() { # TEXT TRACE
  if [ -e "$2" ] && grep -aq 'switched on after a window had begun' "$2"; then
    beyond "$1 (CUPTI was switched on late: $(property "$2" gpu_recorded_after_us) us)"
  elif [[ $1 =~ ^(counts|whole|graphs): ]] && [ -e "$2" ] && grep -aq 'may be tied to the wrong launch' "$2"; then
    say "- a fault of this CUPTI, which the trace states: $1"
  else
    fail "$1"
  fi
}

# Runs a comparison of check_trace. Calls FUNCTION with the text of every FAILED line. Sets `compared` to the output.
compare_by() { # FUNCTION WHAT TRACE ARGUMENTS...
  local function=$1 line status
  shift
  compared=
  if [ -z "${2:-}" ] || [ ! -e "$2" ]; then
    fail "$1: there is no trace to compare"
    return 1
  fi
  compared=$("$check_trace" "$@" 2>&1)
  status=$?
  while IFS= read -r line; do
    case "$line" in
      FAILED*) "$function" "$1: ${line#FAILED: }" "$2" ;;
      *) say "- $1: $line" ;;
    esac
  done <<<"$compared"
  [ "$status" -lt 2 ] || fail "$1: check_trace ended with status $status"
  return "$status"
}
compare() { compare_by wrong "$@"; }         # WHAT TRACE ARGUMENTS...
compare_figure() { compare_by beyond "$@"; } # a FAILED line is a figure beyond its limit

verify_all() { # NAME
  local text
  if [ -z "$(traces_of "$1")" ]; then
    fail "$1: no trace was written: $(last_words "$work/$1.err")"
    return 1
  fi
  if text=$(traces_of "$1" | tr '\n' '\0' | xargs -0 "$tool" verify 2>&1); then
    say "- verify: $(traces_of "$1" | wc -l) trace(s) conform"
  else
    fail "$1: verify: $(head -c 600 <<<"$text" | tr '\n' ' ')"
  fi
}

kernels_in() { # TRACE
  if [ -e "$1" ]; then grep -ac '"cat":"kernel"' "$1"; else echo no; fi
}

# ---- figures ---------------------------------------------------------------------------------------------------------

# Prints the values of the lines "NAME STEP VALUE" of the steps FIRST..LAST in ascending order.
values_of() { # NAME FILE FIRST LAST
  awk -v name="$1" -v first="$3" -v last="$4" '$1 == name && $2 >= first && $2 <= last {print $3}' "$2" | sort -n
}
median_of() { # NAME FILE FIRST LAST
  values_of "$@" |
    awk '{value[NR] = $1} END {if (NR) printf "%.0f", NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2; else printf "0"}'
}
median() { median_of step_ns "$@"; } # FILE FIRST LAST
longest_of() { # NAME FILE FIRST LAST
  values_of "$@" | awk 'END {print NR ? $1 : 0}'
}
percent() { awk -v a="$1" -v b="$2" 'BEGIN {if (b > 0) printf "%+.2f", (a - b) / b * 100; else printf "nan"}'; }
milliseconds() { awk -v ns="$1" 'BEGIN {printf "%.3f", ns / 1e6}'; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a <= b)}'; }
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
