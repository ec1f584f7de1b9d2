// In sanitizer builds (make test-asan, test-tsan), a report in any process fails the test.
#pragma once

#include <string>

namespace profshim::e2e {

/// Returns the path of the sanitizer's runtime and a colon, for LD_PRELOAD; "" without a sanitizer.
std::string sanitizer_preload();

}  // namespace profshim::e2e
