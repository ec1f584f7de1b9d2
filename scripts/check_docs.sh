#!/usr/bin/env bash
# Checks the documents and prints what is wrong; exit 1 if anything is:
#   README.md has at most 150 lines, and its tree names each folder at the top, in src and in inject;
#   tests/README.md names each folder of tests; files, folders and make targets that a document names exist;
#   a line of CHANGELOG.md has at most 125 columns, and a changelog of one release tells no changes.
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C.UTF-8

broken=0
complain() { echo "docs: $*"; broken=1; }

[ "$(wc -l <README.md)" -le 150 ] || complain "README.md has $(wc -l <README.md) lines, more than 150"

tree=$(sed -n '/^include\/profshim/,/^```/p' README.md)
for folder in $(git ls-files | grep -E '^[^.]' | sed -nE 's#^((src|inject)/)?([^/]+)/.*#\3#p' | sort -u); do
  grep -qE "(^|[^A-Za-z_])$folder([^A-Za-z_]|\$)" <<<"$tree" || complain "the tree of README.md does not name $folder"
done

for folder in $(git ls-files tests | sed -nE 's#^tests/([^/]+)/.*#\1#p' | sort -u); do
  case "$folder" in apps*) folder='apps*' ;; esac
  grep -qF "\`$folder/\`" tests/README.md || complain "the table of tests/README.md does not name $folder"
done

mapfile -t documents < <(git ls-files '*.md' '*.scd' | grep -v '^tests/golden/')
targets=$(make --no-print-directory help | awk '{print $1}')
for name in $(grep -ohE '(\`|^)make [a-z0-9-]+( [a-z0-9-]+)*' "${documents[@]}" | sed -E 's/^`?make //' | tr ' ' '\n' | sort -u); do
  grep -qxF -- "$name" <<<"$targets" || complain "a document names make $name, which is no target"
done
# shellcheck disable=SC2016
while IFS=: read -r document name; do
  case "$name" in *[A-Z][A-Z]*) continue ;; esac # a placeholder, such as apps_NAME
  [ -n "$(compgen -G "$(sed -E 's/\{[^}]*\}/*/' <<<"$name")")" ] || complain "$document names $name, which does not exist"
done < <(grep -oE '[`(](scripts|tests|config|src|include|inject)/[^`) ]*' "${documents[@]}" | sed 's/:[`(]/:/')

awk 'length > 125 {print "docs: CHANGELOG.md:" FNR ": " length " columns, more than 125"; bad = 1} END {exit bad}' CHANGELOG.md || broken=1
if [ "$(grep -c '^## ' CHANGELOG.md)" -eq 1 ]; then
  changes='no longer|any ?more|previously|formerly|used to|until now|so far|fixed|(was|were|had) ([a-z]+ )*before'
  ! grep -nwiE "$changes" CHANGELOG.md || complain "CHANGELOG.md is that of a first release, but these lines tell a change"
fi
exit "$broken"
