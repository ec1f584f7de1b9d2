// What the end-to-end tests do otherwise when they, the library and the tool are built with a sanitizer (make
// test-asan, make test-tsan): what a sanitizer reports in whatever process fails the test, and what cannot run with one
// is skipped.
#pragma once

#include <string>

namespace profshim::e2e {

/// The sanitizer's runtime and a colon, to come before the library in LD_PRELOAD; "" in an ordinary build.
std::string sanitizer_preload();

}  // namespace profshim::e2e
