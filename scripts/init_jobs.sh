#!/usr/bin/env bash
# Runs `profshim init` on jobs of tests/loops, then each job with the spec that it wrote. A job is right if the spec has at
# most 25 lines and is valid, says the number of ranks and the launcher, and if all traces hold whole steps, of which the
# run counts as many as the first lines of the job say.
#   scripts/init_jobs.sh [--keep FOLDER] [FILE...]     --keep leaves specs, logs and traces in FOLDER
# Exit status 0 if all that could be run are right.
set -u
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --keep ]; then kept=$2; shift 2; else kept=$work/kept; fi
tool=$PWD/build/profshim

# shellcheck source=scripts/loop_jobs.sh
. scripts/loop_jobs.sh

jobs=(stencil.c jacobi.f90 ring_allreduce.py master_worker.py train.py generate.py frameworks/ddp_torchrun.py
  frameworks/lightning_fit.py frameworks/hf_trainer.py frameworks/accelerate_loop.py frameworks/ray_train.py)
if [ $# -gt 0 ]; then jobs=("$@"); else jobs=("${jobs[@]/#/tests/loops/}"); fi

launcher_of() { # prints how `command` starts its ranks
  case ${command[*]} in
    *mpirun*) echo 'launcher mpirun' ;;
    *torch.distributed.run*) echo 'launcher torchrun' ;;
    *ray_train*) echo 'launcher Ray' ;;
    *) echo 'no launcher' ;;
  esac
}

# Prints the reasons why the spec $folder/s.toml does not describe the job.
faults_of_spec() { # FOLDER RANKS
  local spec=$1/s.toml
  [ "$(wc -l <"$spec")" -le 25 ] || echo 'more than 25 lines'
  [ -z "$("$tool" check "$spec" 2>&1 >/dev/null)" ] || echo 'check finds something'
  grep -q "^# Seen: $(launcher_of)" "$spec" || echo "not $(launcher_of)"
  [ -z "$2" ] || grep -q "; $2 rank" "$spec" || echo "not $2 ranks"
  grep -q '^# Steps: ' "$spec" || echo 'no steps'
}

faults_of_run() { # FOLDER STEPS
  local folder=$1 steps=$2 seen active
  active=$(sed -n 's/^active = \([0-9]*\).*/\1/p' "$folder/s.toml")
  find "$folder/traces" -name '*.pt.trace.json*' 2>/dev/null | grep -q . || { echo 'no trace'; return; }
  "$tool" verify --json "$folder/traces" >"$folder/verified.json"
  python3 - "$folder/verified.json" "$active" <<'PYTHON'
import json, sys
traces, active = json.load(open(sys.argv[1])), int(sys.argv[2])
faults = set()
for trace in traces:
    if not trace["conforms"]: faults.add("does not conform")
    if not trace["complete"] or trace["truncated"] or trace["dropped"]: faults.add("incomplete")
    if len(trace["steps"]) != active: faults.add(f"{len(trace['steps'])} steps instead of {active}")
print("\n".join(sorted(faults)), end="\n" if faults else "")
PYTHON
  grep -q 'seen until the last window' "$folder/run.log" && return  # the count ends early if it is dear
  seen=$(sed -n 's/^profshim: rank .*[ ,]\([0-9]*\) seen.*/\1/p' "$folder/run.log" | sort -n | tail -n 1)
  { [ -n "$seen" ] && [ $((seen - steps)) -le 1 ] && [ $((steps - seen)) -le 1 ]; } || echo "${seen:-no} steps seen of $steps"
}

row() { # FILE: prints a line; returns 1 if the job is not right
  local file=$1 steps ranks folder faults
  steps=$(said_in steps "$file") ranks=$(said_in ranks "$file")
  if ! command_of "$file" "$ranks"; then echo "skipped  $(basename "$file")"; return 0; fi
  folder=$kept/$(basename "$file")
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! timeout 300 "$tool" init -o "$folder/s.toml" -- "${command[@]}" </dev/null >"$folder/init.log" 2>&1; then
    echo "wrong    $(basename "$file"): init: $(tail -n 1 "$folder/init.log")"; return 1
  fi
  faults=$(faults_of_spec "$folder" "$ranks")
  timeout 300 "$tool" run -s "$folder/s.toml" --folder "$folder/traces/{run_name}" -- "${command[@]}" </dev/null >"$folder/run.log" 2>&1 ||
    faults+=$'\nthe job failed'
  faults+=$'\n'$(faults_of_run "$folder" "$steps")
  faults=$(grep . <<<"$faults" | paste -sd ';' | sed 's/;/; /g')
  echo "$([ -z "$faults" ] && echo right || echo wrong)    $(basename "$file")${faults:+: $faults}; $(sed -n 's/^# \(Steps: .*\)/\1/p' "$folder/s.toml")"
  [ -z "$faults" ]
}

wrong=0
for job in "${jobs[@]}"; do row "$job" || wrong=$((wrong + 1)); done
echo "${#jobs[@]} jobs, $wrong wrong"
[ "$wrong" -eq 0 ]
