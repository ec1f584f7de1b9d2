#!/bin/sh
# Makes build/venv-consumers, the Python in which tests/e2e/consumers/*.py run, when it is missing or its pins changed.
# Prints the interpreter's path. Needs network once.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${1:-$root/build/venv-consumers}
pins=$root/tests/e2e/consumers/requirements.txt
if ! cmp -s "$pins" "$venv/pins.txt"; then
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$pins" >&2
  cp "$pins" "$venv/pins.txt"
fi
echo "$venv/bin/python"
