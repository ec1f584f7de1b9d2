#pragma once

#include <gtest/gtest.h>

#ifdef PROFSHIM_HAS_NVTX
#define NEEDS_NVTX() static_cast<void>(0)
#else
#define NEEDS_NVTX() GTEST_SKIP() << "built without the headers of NVTX: scripts/install_deps.sh says why"
#endif

namespace profshim::e2e {

class NeedsNvtx : public testing::Test {
 protected:
  void SetUp() override { NEEDS_NVTX(); }
};

}  // namespace profshim::e2e
