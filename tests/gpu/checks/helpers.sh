# shellcheck shell=bash disable=SC2154  # variables are those of scripts/gpu_check.sh
# The checks of scripts/gpu_check.sh share these functions: running programs, saying results, comparing traces. A check
# runs in a process of its own. `work` is its folder; its results are in files.

# ---- results of the running check ------------------------------------------------------------------------------------

say() { printf '%s\n' "$*" | tee -a "$results" "$sections" >>"$log"; }
fail() {
  note "   FAILED: $*"
  say "- FAILED: $*"
  printf '%s\n' "$*" >>"$base/state/$check.failed"
}
# A failure, unless figures mean nothing on this machine.
beyond() { # TEXT
  if [ "${GPU_CHECK_FIGURES_ONLY:-}" = 1 ]; then
    say "- beyond its limit: $1"
  else
    fail "$1"
  fi
}
# The check has no result, for this reason; it returns after this.
skip() {
  say "- skipped: $*"
  printf '%s\n' "$*" >"$base/state/$check.skipped"
}
# For the table.
key() { printf '%s\n' "$*" >>"$base/state/$check.key"; }

# ---- programs --------------------------------------------------------------------------------------------------------

# The end of what a program said, without what the library says at its end.
last_words() { grep -av '^profshim' "$1" | tail -c 250 | tr '\n' ' '; }

# LD_LIBRARY_PATH for a program.
library_path() { # PROGRAM...
  case " $*" in
    *" $bundle/"*) echo "$libraries" ;;
    *) echo "${LD_LIBRARY_PATH:-}" ;;
  esac
}

# A program without the library. Output in $work/NAME.out. The check fails if the program does.
bare() { # NAME PROGRAM...
  local name=$1 status
  shift
  LD_LIBRARY_PATH=$(library_path "$@") timeout --kill-after=5 "$(seconds_left)" "$@" >"$work/$name.out" 2>"$work/$name.err"
  status=$?
  [ "$status" -eq 0 ] || fail "$name ended with status $status: $(last_words "$work/$name.err"); it was: $*"
  return "$status"
}

# The same under the library; traces go into $work/NAME. The check does not fail.
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

# Runs one of these functions with steps so long that CUPTI is off between two windows that are ten steps apart: it goes
# on half a second before a window.
far_apart() { GPU_JOB_STEP_MS=${GPU_CHECK_STEP_MS:-100} "$@"; }

# The same with a log of when CUPTI was switched on and off, in $work/NAME.log.
watched() { # NAME SETTINGS PROGRAM...
  PROFSHIM_CUPTI=$bundle/cupti_watch.so CUPTI_WATCH_LOG=$work/$1.log under_shim "$@"
}

window='steps.source=nvtx steps.pattern="step *"'
# Steps as schedule.steps lists them: "3-5", "8-9". The step before each is warm-up.
steps_of() { # STEPS...
  local list
  list=$(printf '"%s",' "$@")
  echo "$window schedule.steps=[${list%,}]"
}

# ---- traces ----------------------------------------------------------------------------------------------------------

traces_of() { find "$work/$1" -name '*.pt.trace.json' 2>/dev/null | sort -V; }
trace_of() { traces_of "$1" | head -1; }
# A member of the "profshim" object, as it is written.
fact() { # TRACE KEY
  [ -e "$1" ] || return 1
  grep -aoE -m1 "^ *\"$2\": (\[[^]]*\]|\{[^}]*\}|\"[^\"]*\"|[^,]*)" "$1" | head -1 | sed 's/^[^:]*: //'
}
said_problems() { # TRACE
  local problems
  problems=$(fact "$1" problems) || return
  [ "$problems" = '[]' ] || say "- problems in $(basename "$1"): $(head -c 600 <<<"$problems")"
}

# The check fails for a wrong trace, unless the trace states why. A machine under load switches CUPTI on late: that is a
# figure beyond its limit. From its second session on CUPTI 13.0 joins nodes of graphs to other launches, also of an
# earlier window: that is noted.
wrong() { # TEXT TRACE
  if [ -e "$2" ] && grep -aq 'switched on after a window had begun' "$2"; then
    beyond "$1 (CUPTI was switched on late: $(fact "$2" gpu_recorded_after_us) us)"
  elif [[ $1 =~ ^(counts|whole|graphs): ]] && [ -e "$2" ] && grep -aq 'may be tied to the wrong launch' "$2"; then
    say "- a fault of this CUPTI, which the trace states: $1"
  else
    fail "$1"
  fi
}

# The comparisons of check_trace. FUNCTION gets the text of every FAILED line. `compared` is all that was printed.
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
compare_figure() { compare_by beyond "$@"; } # the same for a figure with a limit

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

# The values of "NAME STEP VALUE" over the steps FIRST..LAST of an output, in ascending order.
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
