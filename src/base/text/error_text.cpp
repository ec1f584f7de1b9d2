#include "profshim/base/text/error_text.h"

#include <dlfcn.h>
#include <locale.h>  // locale: for the C locale
#include <string.h>

namespace profshim {
namespace {

// glibc returns a static object for "C" and allocates nothing.
locale_t c_locale() { return newlocale(LC_ALL_MASK, "C", nullptr); }  // locale: the C locale itself

}  // namespace

const char* error_text(int error) { return strerror_l(error, c_locale()); }  // locale: in the C locale

// glibc translates the message in dlerror().
std::string loader_error_text() {
  const locale_t of_thread = uselocale(c_locale());  // locale: the C locale, for one call
  const char* const text = dlerror();                // locale: in the C locale
  uselocale(of_thread);                              // locale: back to the job's
  return text != nullptr ? text : "";
}

}  // namespace profshim
