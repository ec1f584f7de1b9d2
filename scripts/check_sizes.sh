#!/usr/bin/env bash
# Checks that no folder, file or function exceeds the limits below, and prints each that does; exit 1 if any does. An idea
# that is cut into crumbs is as hard to find: so few files may be short, and no folder of code may hold one idea alone.
#   scripts/check_sizes.sh [FILE...]     without files: all that git tracks
# A function begins at the first line of its declaration and ends at its closing brace; braces in preprocessor lines,
# comments and strings do not count.
set -eu
cd "$(dirname "$0")/.."
most_files=20
most_lines=400
most_function_lines=60
short_header=25 most_short_headers=105
short_source=40 most_short_sources=32

# Prints the paths of tables and lists, which may be longer.
tables() {
  cat <<'LIST'
include/profshim/hooks/mpi.def
tests/apps/mpi/every_call/one_sided.c
tests/apps/mpi/every_call/point_to_point.c
tests/apps_nccl/every_call.c
LIST
}

if [ $# -gt 0 ]; then files=("$@"); else
  mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.c' '*.def' '*.S' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
fi

printf '%s\n' "${files[@]}" | awk -v most="$most_files" '
{ sub(/[^\/]*$/, ""); ++count[$0] }
END {
  for (folder in count)
    if (count[folder] > most) { print folder ": " count[folder] " files; at most " most ": move related files into a subfolder"; broken = 1 }
  exit broken
}' || broken=1

# All of src, inject and include, whatever FILE is.
mapfile -t product < <(git ls-files 'src/*.h' 'src/*.cpp' 'inject/*.h' 'inject/*.cpp' 'include/*.h' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
wc -l "${product[@]}" | awk -v header="$short_header" -v headers="$most_short_headers" -v source="$short_source" -v sources="$most_short_sources" '
$2 == "total" { next }
$2 ~ /\.h$/ && $1 <= header { ++short_headers }
$2 ~ /\.cpp$/ && $1 <= source { ++short_sources }
$2 ~ /^(src|inject)\// {
  folder = $2; sub(/\/[^\/]*$/, "", folder)
  idea = $2; sub(/\.[a-z]*$/, "", idea)
  if (!((folder, idea) in seen)) { seen[folder, idea] = 1; ++ideas[folder] }
  above = folder
  while (sub(/\/[^\/]*$/, "", above)) has_folders[above] = 1
}
END {
  if (short_headers > headers) {
    print short_headers " headers have at most " header " lines; at most " headers " may: join those of one idea"; broken = 1
  }
  if (short_sources > sources) {
    print short_sources " sources have at most " source " lines; at most " sources " may: join those of one idea"; broken = 1
  }
  for (folder in ideas)
    if (ideas[folder] == 1 && !(folder in has_folders)) {
      print folder ": holds one idea, which the name of its file tells: move it up"; broken = 1
    }
  exit broken
}' || broken=1

awk -v most="$most_lines" -v most_of_function="$most_function_lines" -v tables="$(tables)" '
# Returns the line without comments and without the text of literals.
function code_of(line,   out, at) {
  out = ""
  if (in_comment) {
    at = index(line, "*/")
    if (at == 0) return ""
    line = substr(line, at + 2); in_comment = 0
  }
  while (match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047|\/\/|\/\*/)) {
    out = out substr(line, 1, RSTART - 1)
    token = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    if (token == "//") return out
    if (token == "/*") {
      at = index(line, "*/")
      if (at == 0) { in_comment = 1; return out }
      line = substr(line, at + 2)
    } else if (token ~ /^\047/ && out ~ /[0-9a-fA-F]$/) {  # digit separators: 1\047000\047000
      out = out "0"
    } else {
      out = out "\"\""
    }
  }
  return out line
}
function kind_of(head) {
  if (depth > 0 && scopes[depth] != "scope") return "inner"
  if (head ~ /(^|[^a-z_])(namespace|struct|class|union|enum|extern)([^a-z_]|$)/ && head !~ /\)[^;]*$/) return "scope"
  if (head ~ /=[ ]*$/ || head !~ /\)/) return "table"
  return "function"
}
function finish_file() {
  if (name != "" && !(name in excused) && lines > most) {
    print name ": " lines " lines; at most " most ": split it by topic"; broken = 1
  }
}
BEGIN { n = split(tables, rows, "\n"); for (i = 1; i <= n; ++i) excused[rows[i]] = 1 }
FNR == 1 { finish_file(); name = FILENAME; depth = 0; head = ""; start = 0; in_comment = 0; continued = 0 }
{ lines = FNR }
continued || /^[ \t]*#/ { continued = /\\$/; next }
{
  code = code_of($0)
  for (i = 1; i <= length(code); ++i) {
    c = substr(code, i, 1)
    if (c == "{") {
      kind = kind_of(head)
      scopes[++depth] = kind; begins[depth] = start ? start : FNR; titles[depth] = head
      head = ""; start = 0
    } else if (c == "}") {
      if (depth > 0) {
        size = FNR - begins[depth] + 1
        if (scopes[depth] == "function" && size > most_of_function && !(name in excused)) {
          title = titles[depth]; gsub(/[ \t]+/, " ", title); sub(/\(.*/, "", title); sub(/^.* /, "", title)
          print name ":" begins[depth] ": " title "() has " size " lines; at most " most_of_function ": split it"
          broken = 1
        }
        --depth
      }
      head = ""; start = 0
    } else if (c == ";") {
      head = ""; start = 0
    } else {
      if (c ~ /[^ \t]/ && !start) start = FNR
      if (start) head = head c
    }
  }
  if (start) head = head " "
}
END { finish_file(); exit broken }
' "${files[@]}" || broken=1

[ "${broken:-0}" -eq 0 ] && echo "sizes: at most $most_files files in a folder, $most_lines lines in a file, $most_function_lines in a function"
exit "${broken:-0}"
