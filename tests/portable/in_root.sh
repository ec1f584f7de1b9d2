#!/bin/bash
# Runs in a root of scripts/test_portable.sh or test_aarch64.sh: the library and the tool are in /opt/profshim, this
# folder is /opt/portable. Prints what fails; the last line is the number of checks. Exit 1 if any failed.
set -u
cd "$(mktemp -d)" || exit 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=/bin/false PATH=/opt/profshim:$PATH
library=/opt/profshim/libprofshim.so
checks=0 failures=0

check() {  # WHAT COMMAND...: expects status 0
  local what=$1
  shift
  checks=$((checks + 1))
  "$@" >output 2>&1 && return
  failures=$((failures + 1))
  echo "   $what failed: $*"
  tail -n 15 output | sed 's/^/      /'
}

says() {  # TEXT COMMAND...: expects TEXT in the output
  local text=$1
  shift
  "$@" 2>&1 | grep -qF -- "$text"
}

# Expects the same output, errors and status with the library as without it.
unharmed() {
  local plain under
  "$@" >plain.out 2>plain.err
  plain=$?
  LD_PRELOAD=$library "$@" >under.out 2>under.err
  under=$?
  [ "$plain" -eq "$under" ] && cmp plain.out under.out && cmp plain.err under.err
}

record() {  # FOLDER ARGUMENT...: records two ranks of ring.py
  local folder=$1
  shift
  LD_PRELOAD=$library PROFSHIM_RANKS=all PROFSHIM_FOLDER=$folder \
    PROFSHIM_SET="steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=2 schedule.warmup=1 schedule.active=8 \
limits.disk_free=0" \
    timeout 120 mpirun.openmpi -n 2 python3 /opt/portable/ring.py "$@"
}

traces() { find "$1" -name '*.pt.trace.json*' | wc -l; }

check "the tool" profshim --version
check "the doctor" says "glibc                        $(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" profshim doctor
printf 'version = 1\n[schedule]\nactive = "three"\n' >bad.toml
check "a spec with an error" says 'bad.toml:3:' profshim check bad.toml
check "ls under the library" unharmed ls /
check "a command that fails under the library" unharmed ls /no/such/file
check "threads under the library" unharmed python3 -c 'import threading as t; a = t.Thread(target=print, args=("x",)); a.start(); a.join()'
check "a wrong spec beside a job" env LD_PRELOAD=$library PROFSHIM_SPEC=bad.toml python3 -c 'print(1)'

check "an MPI job" says "sum 39" record run
check "a trace of each rank" test "$(traces run)" -eq 2
check "verify" profshim verify run
check "the events" says MPI_Allreduce profshim summary run
check "merge" profshim merge run -o all.pt.trace.json
check "verify what was merged" profshim verify all.pt.trace.json
check "report" profshim report run -o report.html

by_handle() {
  LD_PRELOAD=$library PROFSHIM_RANKS=all PROFSHIM_FOLDER=by_handle PROFSHIM_SET="steps.source=none limits.disk_free=0" \
    timeout 120 python3 /opt/portable/by_handle.py
}
check "MPI by ctypes" says 50 by_handle
check "verify calls by ctypes" profshim verify by_handle
calls_of_barrier() { profshim summary --mpi --json by_handle | tr -d ' \n' | grep -qF '"MPI_Barrier","calls":50,'; }
check "all barriers" calls_of_barrier

record killed 6 >killed.out 2>&1
check "recover after SIGKILL" profshim recover killed
check "a trace of the killed rank" test -n "$(find killed -name 'rank1.*')"
check "nothing left in /dev/shm" test -z "$(ls /dev/shm)"

echo "$checks"
[ "$failures" -eq 0 ]
