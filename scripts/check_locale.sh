#!/usr/bin/env bash
# Checks that nothing in include, inject and src depends on the locale of the process or the thread: numbers, kinds and
# cases of characters, order, messages. Prints each place and what to use instead; exit 1 if there is any. A line with a
# comment "// locale: REASON" is allowed.
#   scripts/check_locale.sh [OBJECT...]    also checks what the objects take from the C and C++ libraries, which finds
#                                          std::to_string() of a double, streams of numbers, and functions in headers
set -eu
cd "$(dirname "$0")/.."

sources() { find include inject src -name '*.cpp' -o -name '*.h' | sort; }

broken=0

# ---- the sources -----------------------------------------------------------------------------------------------------

# shellcheck disable=SC2016  # awk's own fields
sources | xargs awk '
function complain(text, instead) {
  print FILENAME ":" FNR ": " text " depends on the locale: " instead
  broken = 1
}
function calls(names) { return match(code, "(^|[^A-Za-z0-9_.>])(std::)?(" names ")[(]") }
BEGIN {
  number = "include/profshim/base/text/number_text.h has parse_number(), take_number() and leading_number()"
  text = "include/profshim/base/text/number_text.h has fixed_text(), rounded_text() and exact_text()"
  ascii = "include/profshim/base/text/ascii.h"
  error = "include/profshim/base/text/message_text.h has error_text() and loader_error_text()"
}
/\/\/ locale: [^ ]/ { next }
{
  code = $0; literals = ""
  sub(/^[ \t]*\/\/.*/, "", code)
  # Literals apart; an escaped percent sign is none.
  rest = code; code = ""
  while (match(rest, /"([^"\\]|\\.)*"/)) {
    code = code substr(rest, 1, RSTART - 1) "\"\""
    literals = literals " " substr(rest, RSTART + 1, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
  }
  code = code rest
  sub(/[ \t]\/\/.*/, "", code)
  gsub(/%%/, "", literals)

  if (literals ~ /%[-+#0]*[0-9*]*([.][0-9*]*)?L?[aAeEfFgG]/) complain("printf of a floating-point number", text)
  if (literals ~ /%[-+ #0]*\x27/) complain("printf with grouping", text)
  if (literals ~ /%[-0-9*.]*l[cs]/) complain("printf of wide characters", "use UTF-8")
  if (calls("strto(d|f|ld|l|ll|ul|ull|imax|umax)|ato(f|i|l|ll)|v?[fs]?scanf|sto(i|l|ll|ul|ull|f|d|ld)"))
    complain("reading a number", number)
  if (calls("is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(lower|upper)|strn?casecmp|strcasestr"))
    complain("a kind or case of characters", ascii)
  if (calls("strcoll|strxfrm|fnmatch|alphasort")) complain("an order or a pattern", "compare bytes; profshim/base/glob.h")
  if (calls("glob") && code !~ /GLOB_NOSORT/) complain("the order of glob()", "add GLOB_NOSORT and sort the paths")
  if (calls("strerror(_r|_l)?|dlerror|perror|strsignal|gai_strerror") || code ~ /[.]message[(][)]/ || (literals ~ /%m/ && !calls("strftime")))
    complain("a message of the C library", error)
  if (calls("strftime") && literals ~ /%[^YmdHMS]/) complain("a date with names", "only %Y %m %d %H %M %S are numbers everywhere")
  if (calls("setlocale|uselocale|newlocale|localeconv|nl_langinfo") || code ~ /std::locale/)
    complain("this", "the locale is the job\x27s")
  if (code ~ /#include <(regex|iostream|iomanip|locale|format|clocale|locale[.]h)>/)
    complain("this header", text "; profshim/base/glob.h matches names; std::printf writes texts")
}
END { exit broken }
' || broken=1

# ---- the objects -----------------------------------------------------------------------------------------------------

# Prints exceptions, "object symbol": the symbol comes from a third-party header.
allowed() {
  cat <<'LIST'
src/cli/arguments.o *
src/spec/toml/document.o *
src/spec/toml/library.o *
src/base/text/message_text.o dlerror
src/base/text/message_text.o newlocale
src/base/text/message_text.o uselocale
src/base/text/message_text.o snprintf
src/base/kernel_calls.o dlerror
inject/core/loader/real_function.o dlerror
inject/lookup/bindings.o dlerror
src/base/log.o vsnprintf
inject/nccl/profiler/offer.o vsnprintf
LIST
}
# Reasons. arguments.o: CLI11 converts only texts and flags for us, and writes its help with whole numbers. toml11: it reads
# numbers from streams, which take std::locale(), not setlocale(): nobody sets that of our own static libstdc++.
# message_text.o: error_text() puts the thread into the C locale. kernel_calls.o, real_function.o, bindings.o: they clear
# the error and do not read it. log.o, offer.o, snprintf(): the formats are checked above.

# Streams take a number by _M_insert, _M_extract and members with a type of one letter; std::to_string(double) is
# __to_xstring or vsnprintf.
of_library='strto(d|f|ld|l|ll|ul|ull)(_l)?|__isoc(99|23)_[a-z]*(scanf|strto[a-z]*)|ato(f|i|l|ll)|v?[fs]?scanf|vs?n?printf|is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(lower|upper)|__ctype_(b|tolower|toupper)_loc|strn?casecmp|strcasestr|strcoll|strxfrm|fnmatch|alphasort(64)?|strerror(_r)?|__xpg_strerror_r|dlerror|perror|strsignal|gai_strerror|setlocale|uselocale|newlocale|localeconv|nl_langinfo|mbs?r?towcs?|wcs?r?tombs?|_ZNS[oi][0-9]+_M_(insert|extract)I.*|_ZNSolsE[a-z]|_ZNSirsER[a-z]|.*__to_xstring.*|.*regex_traits.*'
for object in "$@"; do
  names=$(nm "$object" | awk -v names="^($of_library)\$" '$NF ~ names {print $NF}' | sort -u)
  module=${object#*/obj/*/}
  [ -z "$names" ] || nm -l "$object" 2>/dev/null | awk -v object="$module" -v names="^($of_library)\$" -v allowed="$(allowed)" '
    BEGIN {
      count = split(allowed, rows, "\n")
      for (i = 1; i <= count; i++) { split(rows[i], parts, " "); if (parts[1] == object) excuse[parts[2]] = 1 }
    }
    {
      symbol = ($1 == "U" || $1 == "w") ? $2 : $3; place = ""
      if (match($0, /\t.*$/)) place = " (" substr($0, RSTART + 1) ")"
      if (symbol !~ names || ("*" in excuse) || (symbol in excuse)) next
      print object ": " symbol place " depends on the locale: include/profshim/base has number_text.h, ascii.h, message_text.h"
      broken = 1
    }
    END { exit broken }' || broken=1
done
[ "$broken" -eq 0 ] || exit 1
echo "locale: nothing in include, inject and src depends on it"
