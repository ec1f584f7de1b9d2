#!/bin/sh
# Makes build/venv-consumers, the Python with HTA and other trace readers for tests/e2e/consumers, if it is missing or
# its pins changed. Prints the interpreter's path. Needs network once.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${1:-$root/build/venv-consumers}
pins=$root/tests/e2e/consumers/requirements.txt
torch=$root/tests/e2e/consumers/torch.txt
if ! cmp -s "$pins" "$venv/pins.txt"; then
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$pins" >&2
  cp "$pins" "$venv/pins.txt"
fi
# Takes only one file of torch, its trace validator. The wheel for macOS is the smallest (140 MB).
if ! cmp -s "$torch" "$venv/torch.txt"; then
  "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --platform macosx_14_0_arm64 --python-version 3.11 --dest "$venv/wheels" -r "$torch" >&2
  "$venv/bin/python" -c 'import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extract("torch/profiler/_trace_validator.py", sys.argv[2])' \
    "$venv"/wheels/torch-*.whl "$venv"
  rm -r "$venv/wheels"
  cp "$torch" "$venv/torch.txt"
fi
echo "$venv/bin/python"
