// Sanitizer builds (make test-asan, test-tsan): a report in any process fails the test.
#pragma once

#include <string>

namespace profshim::e2e {

/// The runtime and a colon, which precede the library in LD_PRELOAD; otherwise "".
std::string sanitizer_preload();

}  // namespace profshim::e2e
