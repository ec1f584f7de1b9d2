#pragma once

#include <string>

namespace profshim {

/// As strerror(), but in English: the process may have a locale of another language, in an encoding that is not UTF-8.
/// Valid until the next call of this thread.
const char* error_text(int error);

/// As dlerror(), but in English; "" if nothing failed since the last call.
std::string loader_error_text();

}  // namespace profshim
