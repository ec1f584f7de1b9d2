#!/usr/bin/env bash
# Checks the include rule and prints each line that breaks it; exit 1 if any does. A file of include/, src/ or inject/
# may include: contracts (profshim/...), headers of its own folder, headers of the folders above and below it in its
# module, headers of the folders named in beside(), trace/schema.h, the standard library, the system's headers, and
# third-party headers in the one module that home_of() prints.
set -eu
cd "$(dirname "$0")/.."

# Prints the one module that may include a third-party header.
home_of() {
  case "$1" in
    toml.hpp|toml/*) echo src/spec ;;
    rapidjson/*) echo src/json ;;
    zlib.h) echo src/trace ;;
    CLI/*) echo src/cli ;;
    protozero/*) echo src/convert ;;
    nvtx3/*) echo inject ;;
  esac
}

# Prints the sibling folders in the same module whose headers a folder may include. No cycles.
beside() {
  case "$1" in
    inject/mpi|inject/nccl|inject/nccl/profiler|inject/python|inject/python/calls|inject/torch|inject/torch/calls) echo inject/core ;;
    inject/lookup) echo inject/core inject/core/loader ;;
    inject/symbol) echo inject/core ;;
    inject/cuda) echo inject/core inject/torch ;;  # CUDA's activation must know if PyTorch waits for its process group
    inject/nvtx) echo inject/nccl inject/nccl/profiler ;;  # NCCL names its communicators in NVTX payloads
    src/analysis/compare|src/analysis/loop|src/analysis/merge|src/analysis/verify) echo src/analysis/model{,/names} ;;
    src/analysis/model|src/analysis/model/load) echo src/analysis/model/names ;;
    src/analysis/memory) echo src/analysis/{model,model/load,model/names,model/written,report} ;;
    src/analysis/model/written) echo src/analysis/model/load ;;
    src/analysis/summary) echo src/analysis/model src/analysis/model/written ;;
    src/analysis/summary/comms) echo src/analysis/model src/analysis/model/names src/analysis/summary/table ;;
    src/analysis/summary/table) echo src/analysis/model ;;
    src/analysis/report) echo src/analysis/{model,merge,summary,summary/comms,summary/table} ;;
    src/analysis/report/page) echo src/analysis/summary ;;
    src/cli/doctor|src/cli/traces) echo src/cli/spec ;;
    src/cli/run) echo src/cli/spec src/cli/traces ;;
    src/cli/init) echo src/cli/run src/cli/spec src/cli/traces ;;
    src/device/capture|src/device/capture/launches) echo src/device/cupti ;;
    src/kineto/args) echo src/kineto/stacks ;;
    src/kineto/device) echo src/kineto/args ;;
    src/kineto/joins) echo src/kineto/args src/kineto/device ;;
    src/kineto/phases) echo src/kineto/args ;;
    src/session/find|src/session/phases) echo src/session/steps ;;
    src/session/recording) echo src/session/{find,phases,samplers,samplers/gpu,selection,signals,spool,steps} ;;
    src/session/spool) echo src/session/selection ;;
    src/write/window) echo src/write/exports ;;
    src/spec/toml) echo src/spec/check ;;
    src/spec/keys) echo src/spec/check src/spec/phase ;;
    src/spec/schema) echo src/spec/phase ;;
  esac
}

# True for headers of C, C++ and the system. C++ headers have neither a dot nor a slash.
is_standard() {
  case "$1" in
    sys/*|linux/*|asm/*|netinet/*|arpa/*|net/*|gnu/*) return 0 ;;
    */*) return 1 ;;
    *.h)
      case "${1%.h}" in
        alloca|assert|ctype|cpuid|cxxabi|dirent|dlfcn|elf|endian|errno|execinfo|fcntl|features|float|fnmatch|ftw|getopt|\
        glob|grp|immintrin|inttypes|langinfo|libgen|limits|link|locale|malloc|math|poll|pthread|pwd|sched|semaphore|\
        setjmp|signal|spawn|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings|syscall|syslog|termios|time|\
        ucontext|unistd|unwind|utime|wchar|wordexp|x86intrin) return 0 ;;
        *) return 1 ;;
      esac ;;
    *.hpp) return 1 ;;
    *) return 0 ;;
  esac
}

# Only code that runs inside the job may use the recorder and the session.
in_process_only='profshim/recorder.h profshim/session.h profshim/device.h'

broken=0
complain() { echo "$1:$2: may not include $3: $4"; broken=1; }

while IFS= read -r file; do
  folder=$(dirname "$file")
  case "$folder" in include/profshim*) folder=include/profshim ;; esac
  # A module is a folder of src, or inject.
  case "$folder" in src/*) module=src/$(cut -d/ -f2 <<<"$folder") ;; *) module=${folder%%/*} ;; esac
  # grep -n gives  LINE:#include "x"  or  LINE:#include <x>
  while IFS=: read -r line text; do
    header=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]*)[>"].*/\1/' <<<"$text")
    case "$header" in
      profshim/*)
        [ -e "include/$header" ] || complain "$file" "$line" "$header" "include/$header does not exist"
        if [ "$module" = src/base ]; then
          case "$header" in  # its own contracts, and the hook tables that it gives names to
            profshim/base.h|profshim/base/*|profshim/event.h|profshim/hooks/*) ;;
            *) complain "$file" "$line" "$header" "src/base may include only base headers, profshim/event.h and profshim/hooks" ;;
          esac
        fi
        if [[ " $in_process_only " == *" $header "* ]]; then
          case "$module" in
            inject|src/device|src/record|src/session|include) ;;
            *) complain "$file" "$line" "$header" "only inject, src/device, src/record and src/session may include headers of the job's side" ;;
          esac
        fi
        continue ;;
      trace/schema.h) continue ;;
    esac
    home=$(home_of "$header")
    if [ -n "$home" ]; then
      [[ " $home " == *" $module "* ]] || complain "$file" "$line" "$header" "only $home may include this library"
    elif [[ "$text" == *'"'* ]]; then
      case "$header" in
        inject/*) from=$(dirname "$header") ;;
        */*) from=src/$(dirname "$header") ;;
        *) from=$folder ;;
      esac
      [ -e "$from/${header##*/}" ] || complain "$file" "$line" "$header" "not a header of $from"
      case "$folder/" in "$from"/*) continue ;; esac  # its own folder, or one above it
      case "$from/" in "$folder"/*) continue ;; esac  # one below it
      [[ " $(beside "$folder") " == *" $from "* ]] || complain "$file" "$line" "$header" "a private header of $from"
    elif ! is_standard "$header"; then
      complain "$file" "$line" "$header" "neither standard nor given a home in scripts/check_layers.sh"
    fi
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file")
done < <(find include src inject -name '*.h' -o -name '*.cpp' -o -name '*.def' | sort)

[ "$broken" -eq 0 ] && echo "layers: every include is allowed"
exit "$broken"
