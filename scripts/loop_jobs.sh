# Sourced by scripts/loops.sh and scripts/init_jobs.sh: how a job of tests/loops is started. Needs the folder $work.
# shellcheck shell=bash disable=SC2034,SC2154

# The first lines of a job say what is right: "steps: 30", "ranks: 4".
said_in() { sed -n "1,12s/^[ *#!]*$1: \([0-9]*\)$/\1/p" "$2" | head -n 1; } # KEY FILE

frameworks=
python_of() { # FILE
  case $1 in
    tests/loops/frameworks/*)
      [ -n "$frameworks" ] || frameworks=$(scripts/loops_venv.sh) || return 3
      echo "$frameworks" ;;
    *) echo /usr/bin/python3 ;;
  esac
}

command_of() { # FILE RANKS: sets `command`
  local file=$1 ranks=$2 python
  case $file in
    *.c)
      mpicc.openmpi -O2 -o "$work/job" "$file" -lm || return
      command=(mpirun.openmpi --allow-run-as-root --oversubscribe -n "${ranks:-1}" "$work/job") ;;
    *.f90)
      command -v mpifort.openmpi >/dev/null && mpifort.openmpi -O2 -o "$work/job" "$file" || return
      command=(mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$work/job") ;;
    *.lammps)
      command -v lmp >/dev/null || return
      command=(mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" lmp -log none -in "$file") ;;
    *)
      python=$(python_of "$file") || return
      command=("$python" "$file")
      if grep -q '^from mpi4py' "$file"; then
        command=(mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$python" "$file")
      elif grep -q '^launcher: torchrun$' "$file"; then
        command=("$python" -m torch.distributed.run --nproc-per-node "$ranks" "$file")
      fi ;;
  esac
}
