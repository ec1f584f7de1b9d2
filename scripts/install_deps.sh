#!/usr/bin/env bash
# Installs missing packages for a target on Debian 12 or newer or Ubuntu 22.04 or newer. Needs root or sudo. Prints each
# package and the reason, asks nothing, and does nothing if everything is installed.
#
#   scripts/install_deps.sh            packages for `make`
#   scripts/install_deps.sh --demo     also for `make demo`
#   scripts/install_deps.sh --test     also for `make test`
#   scripts/install_deps.sh --all      also for `make fuzz`, `make format`, `make lint`, `make man`, `make coverage`
#   scripts/install_deps.sh --steady   also for `make test-steady`
#   scripts/install_deps.sh --aarch64  packages for `make aarch64` and `make test-aarch64`
set -eu
cd "$(dirname "$0")/.."

level=0 extra=''
case "${1:-}" in
  '') ;;
  --demo) level=1 ;;
  --test) level=2 ;;
  --all) level=3 ;;
  --steady) level=2 extra=steady ;;
  --aarch64) level=0 extra=aarch64 ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

# level | package | what exists if it is installed | purpose
#   cmd:NAME a program; hdr:FILE a header; lib:FILE a library; py:MODULE a module of /usr/bin/python3;
#   rt: libFuzzer's runtime; pkg: dpkg's entry
table='
0|g++|cmd:g++|the compiler
0|make|cmd:make|the build
0|libtoml11-dev|hdr:toml.hpp|reads the spec (TOML)
0|rapidjson-dev|hdr:rapidjson/reader.h|writes and reads traces (JSON)
0|libcli11-dev|hdr:CLI/CLI.hpp|command line of the tool
0|libprotozero-dev|hdr:protozero/pbf_writer.hpp|writes traces for Perfetto (protobuf)
0|zlib1g-dev|lib:libz.a|gzip traces
0|libjs-chart.js|pkg:|the plots of profshim report (Chart.js)
1|openmpi-bin|cmd:mpirun.openmpi|runs the demo (Open MPI)
1|libopenmpi-dev|cmd:mpicc.openmpi|compiles the demo (Open MPI)
2|libgtest-dev|lib:libgtest.a|the tests (GoogleTest)
2|nlohmann-json3-dev|hdr:nlohmann/json.hpp|a second JSON reader, for the tests
2|mpich|cmd:mpirun.mpich|the second MPI of the tests
2|libmpich-dev|cmd:mpicc.mpich|the second MPI of the tests
2|gfortran|cmd:gfortran|Fortran programs of the tests
2|python3-mpi4py|py:mpi4py|Python MPI programs of the tests
2|python3-venv|pkg:|a place for the trace readers that the tests ask (HTA and others)
2|strace|cmd:strace|shows the system calls of a program under test
2|locales|pkg:|programs in other languages in the tests
2|git|cmd:git|a program under test
2|perl|cmd:perl|a program under test
2|nodejs|cmd:node|a program under test
2|procps|cmd:ps|processes under test
3|clang|cmd:clang++|the fuzzers
3|libclang-rt-dev|rt:|the fuzzers (libFuzzer)
3|clang-format|cmd:clang-format|the format of the sources
3|clang-tidy|cmd:clang-tidy|finds likely mistakes in the sources
3|scdoc|cmd:scdoc|the man pages
3|gcovr|cmd:gcovr|line coverage of the tests
3|shellcheck|cmd:shellcheck|checks the scripts
steady|stress-ng|cmd:stress-ng|memory pressure beside the tests
aarch64|g++-aarch64-linux-gnu|cmd:aarch64-linux-gnu-g++|the compiler for aarch64
aarch64|qemu-user-static|cmd:qemu-aarch64-static|runs programs of aarch64
aarch64|libgtest-dev|lib:libgtest.a|the tests (GoogleTest)
'

is_there() {  # PROBE PACKAGE
  local what=${1#*:} place
  case "$1" in
    cmd:*) command -v "$what" >/dev/null 2>&1 ;;
    hdr:*) for place in /usr/local/include /usr/include /usr/include/*-linux-gnu; do
             [ -e "$place/$what" ] && return 0
           done; return 1 ;;
    lib:*) for place in /usr/local/lib /usr/lib /usr/lib/*-linux-gnu; do
             [ -e "$place/$what" ] && return 0
           done; return 1 ;;
    py:*) /usr/bin/python3 -c "import $what" >/dev/null 2>&1 ;;
    rt:*) ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1 ;;
    pkg:*) dpkg-query -W -f='${Status}' "$2" 2>/dev/null | grep -q 'ok installed' ;;
  esac
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null 2>&1; then sudo -n "$@" || sudo "$@"
  else
    echo "install_deps: not root and no sudo; run this as root, then start again:  $*" >&2
    exit 2
  fi
}

refreshed=''
apt_log=$(mktemp)
trap 'rm -f "$apt_log"' EXIT
refresh() {
  [ -z "$refreshed" ] || return 0
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  refreshed=yes
}
apt_install() {
  command -v apt-get >/dev/null 2>&1 || {
    echo "install_deps: no apt-get here; install these packages, which may have other names on your system: $*" >&2
    exit 2
  }
  refresh
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null 2>"$apt_log" ||
    { cat "$apt_log" >&2; exit 2; }
}

missing=()
while IFS='|' read -r row_level package probe why; do
  case "$row_level" in
    '') continue ;;
    [0-9]) [ "$row_level" -le "$level" ] || continue ;;
    *) [ "$row_level" = "$extra" ] || continue ;;
  esac
  is_there "$probe" "$package" && continue
  if [ "$package" = libclang-rt-dev ]; then  # the package's name contains clang's version
    version=$(clang --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
    if [ -z "$version" ] && command -v apt-cache >/dev/null; then  # clang itself is installed below
      refresh
      version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
    fi
    package="libclang-rt-${version:-14}-dev"
  fi
  echo "  installing $package: $why"
  missing+=("$package")
done <<<"$table"
[ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"

# NVTX needs only headers. A CUDA toolkit and Debian's nvidia-cuda-dev have them (non-free, so not installed here).
# Otherwise a wheel of them is unpacked under build/deps, where the Makefile looks next. Without it, everything is built
# and tested without NVTX.
cuda_home=${CUDA_HOME:-/usr/local/cuda}
has_nvtx() {
  local folder
  for folder in "$cuda_home"/include build/deps/nvidia/*/include /usr/include; do
    [ -e "$folder/nvtx3/nvToolsExtPayload.h" ] && return 0
  done
  return 1
}
# Sets `python` to an interpreter with pip. Debian's pip installs no packages ("externally managed") but fetches files.
python_with_pip() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -m pip --version >/dev/null 2>&1; then python=$candidate; return; fi
  done
  echo "  installing python3-pip: fetches wheels"
  apt_install python3-pip ca-certificates
  python=/usr/bin/python3
}
# Unpacks a wheel under build/deps without its dependencies. Fails if it cannot be fetched.
unpack_wheel() {  # NAME VERSION
  local wheel fetched=1
  python_with_pip
  mkdir -p build/deps
  "$python" -m pip -q --disable-pip-version-check download --retries 1 --no-deps --only-binary :all: -d build/deps "$1$2" \
    >/dev/null 2>&1 || return 1
  for wheel in build/deps/"${1//-/_}"-*.whl; do "$python" -m zipfile -e "$wheel" build/deps && fetched=0; done
  rm -f build/deps/"${1//-/_}"-*.whl
  return $fetched
}
if ! has_nvtx; then
  echo "  unpacking the headers of nvidia-nvtx into build/deps: NVTX ranges (no CUDA toolkit here)"
  (unpack_wheel nvidia-nvtx '>=13') && has_nvtx ||
    echo "install_deps: pip cannot fetch the NVTX headers (nvidia-nvtx); continuing without NVTX; set CUDA_HOME or install nvidia-cuda-dev to have them" >&2
fi

# Tests with PyTorch are skipped without it, because not every system has a package.
if [ "$level" -ge 2 ] && ! { is_there py:torch python3-torch && is_there hdr:ATen/ATen.h libtorch-dev; }; then
  echo "  installing python3-torch, libtorch-dev: PyTorch programs of the tests"
  (apt_install python3-torch libtorch-dev) || echo "install_deps: no python3-torch: the tests with PyTorch are skipped" >&2
fi

# torch.compile needs these packages. Without them `make test-torch` is skipped (scripts/torch_venv.sh).
if [ "$level" -ge 2 ] && ! { is_there pkg: python3-dev && is_there pkg: python3-setuptools; }; then
  echo "  installing python3-dev, python3-setuptools: torch.compile in the tests"
  (apt_install python3-dev python3-setuptools) ||
    echo "install_deps: no python3-dev: the tests with PyTorch 2 are skipped" >&2
fi

# Some tests call the real NCCL, which refuses all calls without a GPU. Without NCCL they are skipped.
has_nccl() {
  local library
  for library in "$cuda_home"/lib64/libnccl.so.2 /usr/lib/*-linux-gnu/libnccl.so.2 build/deps/nvidia/nccl/lib/libnccl.so.2; do
    [ -e "$library" ] && return 0
  done
  return 1
}
if [ "$level" -ge 2 ] && ! has_nccl; then
  echo "  unpacking the library of nvidia-nccl-cu13 into build/deps: the tests call it"
  (unpack_wheel nvidia-nccl-cu13 ==2.28.9) ||
    echo "install_deps: pip cannot fetch nvidia-nccl-cu13: tests of the real NCCL are skipped" >&2
fi

# Tests of profshim report are skipped without a browser, because Ubuntu has no package.
if [ "$level" -ge 2 ] && ! is_there cmd:chromium-headless-shell chromium-headless-shell; then
  echo "  installing chromium-headless-shell: opens the pages of profshim report in the tests"
  (apt_install chromium-headless-shell) || echo "install_deps: no chromium-headless-shell: no page is opened in a browser" >&2
fi
