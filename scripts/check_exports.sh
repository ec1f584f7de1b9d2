#!/usr/bin/env bash
# Compares the exports of the library with the hook tables, and checks that it loads no other library into the job.
#   scripts/check_exports.sh [LIBRARY]        default: build/libprofshim.so.  Exit 1 and one line per fault.
set -eu
cd "$(dirname "$0")/.."
library=${1:-build/libprofshim.so}
[ -e "$library" ] || { echo "check_exports: $library is not built" >&2; exit 2; }

fault=0
complain() { echo "exports: $*"; fault=1; }

exported=$(nm -D --defined-only "$library" | awk '$2 ~ /^[TWVBDRuiI]$/ {print $3}' | sed 's/@.*//' | sort -u)
rows=$(sed -n 's/^[[:space:]]*HOOK[A-Z_]*(\([A-Za-z_0-9]*\).*/\1/p' include/profshim/hooks/{cuda,mpi,nccl}.def | sort -u)
entries='InitializeInjection InitializeInjectionNvtx2 InitializeInjectionNvtxExtension'
# Calls of these functions reveal another client of CUPTI.
clients='cuptiSubscribe cuptiSubscribe_v2 cuptiUnsubscribe cuptiActivityRegisterCallbacks
  cuptiActivityRegisterCallbacks_v2 cuptiActivityRegisterTimestampCallback cuptiActivityEnable cuptiActivityEnable_v2
  cuptiActivityEnableAndDump cuptiActivityEnableAndDump_v2 cuptiActivityDisable cuptiActivityDisable_v2 cuptiActivityFlushAll cuptiFinalize
  cuptiActivityEnableContext cuptiActivityDisableContext cuptiActivityEnableRuntimeApi cuptiActivityEnableDriverApi'
# Hooks of functions that end or replace the process, or read and set the action of a signal.
exits='exit quick_exit _exit _Exit abort daemon execve execv execvp execvpe execl execlp execle fexecve execveat'
actions='sigaction __sigaction signal ssignal bsd_signal sysv_signal __sysv_signal sigset siginterrupt'
# The job looks up functions by these.
lookups="dlsym dlvsym $(sed -n 's/^HOOK(\(.*\))/\1/p' inject/core/driver_lookups.def | tr '\n' ' ')"
# NCCL looks up its profiler plugin by these names.
profilers='ncclProfiler_v4 ncclProfiler_v5 ncclProfiler_v6'
# PyTorch calls these when it is imported, makes process groups, sends RPC requests and allocates memory.
group=_ZN4c10d12ProcessGroup
store=N3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEE
rpc=5torch11distributed3rpc
agent=_ZN${rpc}15TensorPipeAgent
future=St10shared_ptrINS2_15AtomicJitFutureEE
no_type=6detail34intrusive_target_default_null_typeI
torch="initModule ${group}C1Eii ${group}C2Eii ${group}C1E${store}ii ${group}C2E${store}ii
  ${group}12setGroupNameERKSs ${group}12setGroupNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
  _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv
  _ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm
  _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
  _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE
  ${agent}4sendERKNS1_10WorkerInfoEN3c1013intrusive_ptrINS1_7MessageENS6_${no_type}S8_EEEEfRKSt13unordered_mapINS6_6DeviceESE_St4hashISE_ESt8equal_toISE_ESaISt4pairIKSE_SE_EEE
  ${agent}7respondERSt10shared_ptrIN10tensorpipe4PipeEE _ZNK${rpc}15RequestCallbackclERNS1_7MessageESt6vectorIN3c106StreamESaIS7_EE
  ${agent}20markFutureAsCompleteE${future}N3c1013intrusive_ptrINS1_7MessageENS6_${no_type}S8_EEEESt6vectorINS6_6StreamESaISE_EE
  ${agent}19markFutureWithErrorE${future}Ss ${agent}19markFutureWithErrorE${future}NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
  _ZN${rpc}7Message5setIdEl _ZNK${rpc}7Message2idEv"

# Every row must be exported as a C function, and so must these names.
for row in $rows; do
  grep -qx "$row" <<<"$exported" || complain "$row is a row of a table and not exported"
done
for symbol in $clients $profilers $torch $exits $actions $lookups InitializeInjection; do
  grep -qx "$symbol" <<<"$exported" || complain "$symbol is not exported"
done
grep -qx InitializeInjectionNvtx2 <<<"$exported" || complain "InitializeInjectionNvtx2 is not exported: no NVTX range is seen"

# Every export must be a row, a Fortran spelling of a row, or one of the names above.
lower_rows=$(tr '[:upper:]' '[:lower:]' <<<"$rows")
for symbol in $exported; do
  grep -qx "$symbol" <<<"$rows" && continue
  [[ " $entries $exits $actions $lookups $profilers ${torch//$'\n'/ } ${clients//$'\n'/ } " == *" $symbol "* ]] && continue
  # MPI_SEND, mpi_send, mpi_send_, mpi_send__; mpi_send_f08_, mpi_send_f08ts_ of the mpi_f08 module
  base=$(tr '[:upper:]' '[:lower:]' <<<"$symbol" | sed -E 's/_+$//; s/_(f08|f08ts|fts)$//')
  grep -qx "$base" <<<"$lower_rows" || complain "$symbol is exported but is neither a hook row nor a listed name"
done

# As ifuncs, these stay hidden from NCCL unless capture.nccl_profiler is set (inject/nccl/profiler/profiler.cpp).
for symbol in $profilers; do
  nm -D "$library" | grep -q " i $symbol\$" || complain "$symbol is not an ifunc: NCCL would load it as its profiler even if capture.nccl_profiler is off"
done

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
  case "$name" in
    libc.so.6|ld-linux*.so.*) ;;
    libpthread.so.0|libdl.so.2)  # separate libraries before glibc 2.34
      [ "${library%/*}" = build/portable ] || complain "needs $name, which is part of libc.so.6 today" ;;
    *) complain "needs $name: every process of the job would load it" ;;
  esac
done
readelf -dW "$library" | grep -q TEXTREL && complain "has text relocations"
nm -D "$library" | grep -q ' u ' && complain "has unique symbols: they would replace the job's"
readelf -lW "$library" | grep -q 'GNU_STACK.*RWE' && complain "wants an executable stack"

[ "$fault" -eq 0 ] && echo "exports: $(wc -w <<<"$rows") rows, $(wc -w <<<"$exported") symbols, needs $(tr '\n' ' ' <<<"$needed")"
exit "$fault"
