#!/usr/bin/env bash
# Makes the Python environment of `make test-torch`, with PyPI's PyTorch, if it is missing or its pins changed. Prints
# the path of the interpreter. Needs network once: 0.6 GB, 1.5 GB on disk, half a minute.
#   scripts/torch_venv.sh [FOLDER]     default: ${XDG_CACHE_HOME:-~/.cache}/profshim/torch-venv
# If it cannot be made, prints one line on stderr that says why; exit status 3. If the pins are wrong, exit status 1.
#
# The wheel for x86-64 is linked with 3 GB of CUDA libraries. A process that sees no GPU calls none of them but cudart
# and CUPTI, which are installed. The others are replaced by libraries in which every function traps.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/profshim/torch-venv}
pins=$root/tests/e2e/support/torch_requirements.txt
needed_mb=2600 # the wheel and its unpacked files

cannot() {
  echo "torch_venv: cannot install the PyTorch of PyPI: $*" >&2
  exit 3
}

[ "$(uname -m)" = x86_64 ] || cannot "the pins are for x86-64, this is $(uname -m)"
mkdir -p "$(dirname "$venv")" || cannot "$(dirname "$venv") cannot be made"
exec 9>"$venv.lock" || cannot "$venv.lock cannot be written"
flock 9 # another process may be making it
if cmp -s "$pins" "$venv/pins.txt" && "$venv/bin/python" -c '' 2>/dev/null; then
  echo "$venv/bin/python"
  exit
fi

free_mb=$(df --output=avail -BM "$(dirname "$venv")" | tail -1 | tr -dc '0-9')
[ "$free_mb" -ge "$needed_mb" ] || cannot "$needed_mb MB are needed in $(dirname "$venv"), $free_mb are free"

# torch.compile needs Python.h.
python=''
for candidate in /usr/bin/python3 python3; do
  "$candidate" -c 'import ensurepip, os, sys, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
    2>/dev/null && { python=$candidate && break; }
done
[ -n "$python" ] || cannot "no Python 3.11 or newer with venv and headers: apt install python3-venv python3-dev"

# The folder is made beside its place and then renamed, so that an interrupted run leaves no incomplete one.
new=$venv.$$
log=$new.log
trap 'rm -rf "$new" "$log"' EXIT
trap 'exit 130' INT TERM
echo "torch_venv: fetching PyTorch into $venv (0.6 GB, once)" >&2
"$python" -m venv "$new" >"$log" 2>&1 || cannot "$(tail -n 1 "$log")"
"$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --no-compile \
  --only-binary :all: -r "$pins" >"$log" 2>&1 || {
  reason=$(grep -m 1 ERROR "$log" | cut -c 1-200)
  # pip reports "versions: none" if the index is unreachable. Other errors are faults of the pins.
  grep -qE 'from versions: none|Retrying|Connection|No space left|timed out' "$log" && cannot "$reason"
  echo "torch_venv: $reason" >&2
  exit 1
}

site=$(echo "$new"/lib/python3*/site-packages)
libraries=$site/nvidia/cu13/lib
rm -rf "$site"/torch/bin/test_* "$site"/torch/test "$libraries"/*.a
# Symbols that torch's libraries bind when they are loaded must exist.
{
  echo '.text'
  nm -D --undefined-only "$site"/torch/lib/*.so | awk '{sub(/@.*/, "", $2); print $2}' | sort -u |
    grep -E '^(cublas|cudnn|cufft|cuFile|cusolver|cusparse|nccl|nvrtc|nvshmem|nvJit)' | sed 's/.*/.globl &\n&:/'
  echo 'ud2'
  echo '.section .note.GNU-stack,"",@progbits'
} >"$new/none.s"
# The symbols are in a separate library, because a versioned reference accepts no unversioned symbol of the library
# that it names.
cc -shared -nostdlib -Wl,-soname,libnone.so -o "$libraries/libnone.so" "$new/none.s"
for name in $(readelf -dW "$site"/torch/lib/*.so | sed -n 's/.*NEEDED.*\[\(lib\(cu\|nv\|nccl\)[^]]*\)\]/\1/p' | sort -u); do
  if [ "$name" != libcuda.so.1 ] && [ ! -e "$libraries/$name" ]; then
    cc -shared -nostdlib -Wl,-soname,"$name" -Wl,--no-as-needed -Wl,-rpath,"\$ORIGIN" -o "$libraries/$name" \
      -L"$libraries" -l:libnone.so
  fi
done
# Precompiling only makes imports faster, so files that cannot be compiled are ignored.
"$new/bin/python" -m compileall -q -j 2 -x '/(testing|onnx|quantization|_numpy)/' "$site" >"$log" 2>&1 || true
"$new/bin/python" -c 'import torch; torch.linalg.inv(torch.eye(2))' >"$log" 2>&1 || cannot "$(tail -n 1 "$log")"

cp "$pins" "$new/pins.txt"
rm -rf "$venv"
# After the move, scripts of bin/ contain a wrong path. The interpreter contains none, and only it is used.
mv -T "$new" "$venv"
echo "$venv/bin/python"
