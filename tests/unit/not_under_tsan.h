// Leaves a test out of `make test-tsan`, which runs all others, and says why.
#pragma once

#include <gtest/gtest.h>

#if defined(__SANITIZE_THREAD__)
#define NOT_UNDER_TSAN(reason) GTEST_SKIP() << (reason)
#else
#define NOT_UNDER_TSAN(reason) static_cast<void>(0)
#endif
