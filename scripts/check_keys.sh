#!/usr/bin/env bash
# Checks that the keys, categories and event names of a trace are spelled only in include/profshim/trace/schema, as constants.
# Prints each line of include, inject and src that has one as a literal; exit 1 if any does. A literal counts if:
#  - It is compared, looked up as an argument or member, tested as a prefix or suffix, or added as an argument.
#  - It contains a blank, a bracket or a capital after a small letter, so that it can hardly have another meaning.
#  - It is in quotes and followed by a colon inside a longer literal, as in assembled JSON.
set -eu
cd "$(dirname "$0")/.."

# Prints exceptions, "path text": the text is no key of a trace there. "path *": no text is.
other_meaning() {
  cat <<'LIST'
include/profshim/trace/schema/* *
src/run/manifest/manifest.cpp *
src/spec/* *
src/spec/name_pattern.cpp *
src/analysis/compare/baseline.cpp *
src/cli/* *
src/convert/columns_schema.h *
src/convert/columns_script.h *
src/analysis/verify/gpu_checks.cpp Kernel
src/elf/* *
src/base/* *
src/analysis/verify/gpu_checks.cpp to
src/analysis/summary/cell_text.cpp s
src/analysis/report/report.cpp rank
src/analysis/report/steps.cpp device
src/analysis/report/page/plots_json.cpp *
src/analysis/memory/memory_report.cpp Trace
src/analysis/memory/memory_report.cpp Rank
src/analysis/verify/header_checks.cpp rank
src/write/recovery/write_recovered_traces.cpp *
src/write/window/summary_file.cpp *
src/write/window/window_answers.cpp *
src/write/window/export_file.cpp *
src/analysis/summary/table/table_files.cpp *
src/write/live/live_writer.cpp failed
LIST
}
# Reasons. schema: the constants themselves. manifest.cpp: manifest-rank*.json. spec, check_name_pattern.cpp: keys of the
# spec and variables of file names. baseline.cpp: baseline files. header_checks.cpp: HTA's search
# pattern. cli: the tool's own JSON. columns_*: Parquet columns. gpu_checks.cpp: parts of names of kernels and copies.
# cell_text.cpp: a unit. report.cpp, memory_report.cpp, steps.cpp, plots_json.cpp: words on the page and keys of its
# script. write_recovered_traces.cpp, live_writer.cpp: states in a manifest. write/window, table_files.cpp: summaries as JSON.
# elf, base: no traces there.

# shellcheck disable=SC2016  # awk's own fields
find include inject src -name '*.cpp' -o -name '*.h' | sort | xargs awk -v others="$(other_meaning)" '
function glob(pattern) {
  gsub(/[.]/, "\\.", pattern); gsub(/[*]/, ".*", pattern)
  return "^" pattern "$"
}
function excused(text,   i) {
  for (i in excuse_path)
    if (FILENAME ~ excuse_path[i] && (excuse_text[i] == "*" || excuse_text[i] == text)) return 1
  return 0
}
function complain(text) {
  print FILENAME ":" FNR ": \"" text "\" is a key of a trace: use its constant of include/profshim/trace/schema"
  broken = 1
}
BEGIN {
  count = split(others, rows, "\n")
  for (i = 1; i <= count; i++) {
    split(rows[i], parts, " ")
    excuse_path[i] = glob(parts[1]); excuse_text[i] = parts[2]
  }
  while (("cat include/profshim/trace/schema/*.h" | getline line) > 0) {
    if (match(line, /string_view k[A-Za-z0-9]* = ".*";/)) {
      text = substr(line, RSTART, RLENGTH)
      sub(/^[^"]*"/, "", text); sub(/";$/, "", text)
      keys[text] = 1
      ++known
    }
  }
  if (known < 100) { print "check_keys: cannot read include/profshim/trace/schema"; exit 2 }
}
/^[ \t]*(#|\/\/)/ { next }
{
  rest = $0; before = ""
  while (match(rest, /"([^"\\]|\\.)*"/)) {
    literal = substr(rest, RSTART + 1, RLENGTH - 2)
    before = before substr(rest, 1, RSTART - 1)
    after = substr(rest, RSTART + RLENGTH)
    if (before ~ /(^|[ \t;{}])\/\//) break  # a comment
    if (literal in keys) {
      used = before ~ /[=!]= *$/ || after ~ /^ *[=!]=/ ||
             before ~ /(find_arg|integer_arg|text_arg|argument|starts_with|ends_with|json_part|add|add_metadata|member|key)[(]([^()]*, *)?$/
      distinct = literal ~ /[^ ] [^ ]/ || literal ~ /[a-z][A-Z]/ || literal ~ /[[]/
      if ((used || distinct) && !excused(literal)) complain(literal)
    } else {
      inner = literal
      while (match(inner, /\\"[^"\\]+\\":/)) {
        text = substr(inner, RSTART + 2, RLENGTH - 5)
        if ((text in keys) && !excused(text)) complain(text)
        inner = substr(inner, RSTART + RLENGTH)
      }
    }
    before = before "\"\""
    rest = after
  }
}
END { exit broken }
' || exit 1
echo "keys: every key of a trace is spelled only in include/profshim/trace/schema"
