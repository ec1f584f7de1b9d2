#!/usr/bin/env bash
# Prints the scdoc source of profshim-spec(5): the head in src/spec/spec.scd, then the key table of the tool.
#   scripts/spec_page.sh build/profshim
set -eu
cat "$(dirname "$0")/../src/spec/spec.scd"
# | `key` | type | values | `default` | short forms | sentence |, where \| is a bar within a cell.
"$1" keys --markdown | tail -n +3 | sed 's/\\|/\x01/g' | awk -F ' *[|] *' '
  function plain(text) { gsub(/`/, "", text); gsub(/\001/, "|", text); gsub(/[*_\\#~<>]/, "\\\\&", text); return text }
  {
    printf "\n*%s* (%s)\n\t%s.\n", plain($2), plain($3), plain($7)
    printf "\tDefault: %s.", plain($5)
    if ($4 != "any" && $3 != "boolean") printf " Values: %s.", plain($4)
    if ($6 != "") printf " Short: %s.", plain($6)
    printf "\n"
  }'
printf '\n# SEE ALSO\n\n*profshim*(7), *profshim-check*(1), *profshim-explain*(1), *profshim-keys*(1)\n'
