// Support for builds of the tests, the library and the tool with a sanitizer (make test-asan, make test-tsan): a report
// of a sanitizer in any process fails the test, and tests that cannot run with a sanitizer are skipped.
#pragma once

#include <string>

namespace profshim::e2e {

/// Returns the sanitizer's runtime and a colon, which precede the library in LD_PRELOAD; "" in an ordinary build.
std::string sanitizer_preload();

}  // namespace profshim::e2e
