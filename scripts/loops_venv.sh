#!/usr/bin/env bash
# Makes the Python environment of tests/loops/frameworks, if it is missing or its pins changed: a copy of that of
# scripts/torch_venv.sh with the frameworks. Prints the path of the interpreter. Needs network once: 1 GB, 3 GB on disk.
#   scripts/loops_venv.sh      in ${XDG_CACHE_HOME:-~/.cache}/profshim/loops-venv
# If it cannot be made, prints one line on stderr that says why; exit status 3.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/profshim/loops-venv
pins=$root/tests/loops/frameworks/requirements.txt
if cmp -s "$pins" "$venv/pins.txt"; then
  echo "$venv/bin/python"
  exit
fi
torch=$("$root/scripts/torch_venv.sh") || exit 3
new=$venv.$$
trap 'rm -rf "$new" "$new.log"' EXIT
echo "loops_venv: fetching the frameworks into $venv (1 GB, once)" >&2
cp -a "$(dirname "$(dirname "$torch")")" "$new"
"$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps -r "$pins" \
  >"$new.log" 2>&1 || {
  echo "loops_venv: cannot install the frameworks: $(grep -m 1 ERROR "$new.log" | cut -c 1-200)" >&2
  exit 3
}
cp "$pins" "$new/pins.txt"
rm -rf "$venv"
mv "$new" "$venv"
echo "$venv/bin/python"
