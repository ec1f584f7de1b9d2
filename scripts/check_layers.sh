#!/usr/bin/env bash
# The include rule: a file of include/, src/ or inject/ may include profshim/..., headers of its own folder, the standard
# library and the system's, and third-party headers whose home is its folder. Prints what breaks it; exit 1 if any does.
set -eu
cd "$(dirname "$0")/.."

# Third-party header -> its one home.
home_of() {
  case "$1" in
    toml.hpp|toml/*) echo src/spec ;;
    rapidjson/*) echo src/trace ;;
    zlib.h) echo src/trace ;;
    CLI/*) echo src/cli ;;
    protozero/*) echo src/convert ;;
    nvtx3/*) echo inject ;;
  esac
}

# C++ headers have neither a dot nor a slash; these are C's and the system's.
is_standard() {
  case "$1" in
    sys/*|linux/*|asm/*|netinet/*|arpa/*|net/*|gnu/*) return 0 ;;
    */*) return 1 ;;
    *.h)
      case "${1%.h}" in
        alloca|assert|ctype|cpuid|cxxabi|dirent|dlfcn|elf|endian|errno|execinfo|fcntl|features|float|fnmatch|ftw|getopt|\
        glob|grp|immintrin|inttypes|langinfo|libgen|limits|link|locale|malloc|math|poll|pthread|pwd|sched|semaphore|\
        setjmp|signal|spawn|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings|syscall|syslog|termios|time|\
        ucontext|unistd|utime|wchar|wordexp|x86intrin) return 0 ;;
        *) return 1 ;;
      esac ;;
    *.hpp) return 1 ;;
    *) return 0 ;;
  esac
}

# The hot border and the life cycle belong to what runs inside the job.
in_process_only='profshim/recorder.h profshim/session.h profshim/device.h'

broken=0
complain() { echo "$1:$2: may not include $3: $4"; broken=1; }

while IFS= read -r file; do
  folder=$(dirname "$file")
  case "$folder" in include/profshim*) folder=include/profshim ;; esac
  # grep -n gives  LINE:#include "x"  or  LINE:#include <x>
  while IFS=: read -r line text; do
    header=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]*)[>"].*/\1/' <<<"$text")
    case "$header" in
      profshim/*)
        [ -e "include/$header" ] || complain "$file" "$line" "$header" "there is no such contract"
        if [ "$folder" = src/base ]; then
          case "$header" in  # its own contract, and the hook tables that it gives names to
            profshim/base.h|profshim/signal_guard.h|profshim/log_folder.h|profshim/event.h|profshim/hooks/*) ;;
            profshim/safe_files.h|profshim/process_identity.h|profshim/printable.h|profshim/command_line.h|profshim/memory_map.h) ;;
            *) complain "$file" "$line" "$header" "base includes nothing of ours" ;;
          esac
        fi
        if [[ " $in_process_only " == *" $header "* ]]; then
          case "$folder" in
            inject|src/device|src/record|src/session|include/profshim) ;;
            *) complain "$file" "$line" "$header" "only inject, src/device, src/record and src/session see the job's side" ;;
          esac
        fi
        continue ;;
    esac
    home=$(home_of "$header")
    if [ -n "$home" ]; then
      [ "$folder" = "$home" ] || complain "$file" "$line" "$header" "its home is $home"
    elif [[ "$text" == *'"'* ]]; then
      [ -e "$(dirname "$file")/$header" ] || complain "$file" "$line" "$header" "not a header of $folder"
      case "$header" in */*) complain "$file" "$line" "$header" "another folder's private header" ;; esac
    elif ! is_standard "$header"; then
      complain "$file" "$line" "$header" "neither standard nor given a home in scripts/check_layers.sh"
    fi
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file")
done < <(find include src inject -name '*.h' -o -name '*.cpp' -o -name '*.def' | sort)

[ "$broken" -eq 0 ] && echo "layers: every include is allowed"
exit "$broken"
