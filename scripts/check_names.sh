#!/usr/bin/env bash

# 1 if one is. `at` is the standard library's.
set -u
cd "$(dirname "$0")/.." || exit 2

found=$(git ls-files '*.h' | grep -E '^(include|src|inject)/' |
  xargs grep -nE '^[^/]*[A-Za-z>&*] (with|of|on|over|from|for|by|to|in|into|under|between)\([^)]*\)[^;]*[;{]' |
  grep -vE '^[^:]+:[0-9]+: *(return|case|for|//)')
[ -z "$found" ] || {
  sed -E 's/^([^:]+:[0-9]+): */\1: a preposition is no name: /' <<<"$found"
  exit 1
}
echo "names: no function is named by a preposition alone"
