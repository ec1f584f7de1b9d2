#include "session/steps/kernel_names.h"

#include <gtest/gtest.h>

#include <string>

namespace profshim::session {
namespace {

// kAdam is void at::native::fused<at::native::FusedAdamMathFunctor>(float*). _Z4stepPf is void step(float*).
const char* const kAdam = "_ZN2at6native5fusedINS0_20FusedAdamMathFunctorEEEvPf";

TEST(KernelNames, MatchesTheMangledTheDemangledAndTheBareName) {
  EXPECT_TRUE(KernelNames("_Z4stepPf").matches("_Z4stepPf"));
  EXPECT_TRUE(KernelNames("step(float*)").matches("_Z4stepPf"));
  EXPECT_TRUE(KernelNames("step").matches("_Z4stepPf"));
  EXPECT_TRUE(KernelNames("st?p").matches("_Z4stepPf"));
  EXPECT_FALSE(KernelNames("ste").matches("_Z4stepPf"));
  EXPECT_TRUE(KernelNames("at::native::fused<*").matches(kAdam));
  EXPECT_TRUE(KernelNames("step").matches("step")) << "extern \"C\"";
}

TEST(KernelNames, CaseIsIgnored) {
  EXPECT_TRUE(KernelNames("*adam*").matches(kAdam));
  EXPECT_TRUE(KernelNames("*ADAM*").matches(kAdam));
  EXPECT_FALSE(KernelNames("*lamb*").matches(kAdam));
}

TEST(KernelNames, AnEmptyNameNeverMatches) {
  EXPECT_FALSE(KernelNames("*").matches(nullptr));
  EXPECT_FALSE(KernelNames("*").matches(""));
}

// The second answers come from a cache with fewer slots than names.
TEST(KernelNames, ResultForANameIsStable) {
  KernelNames names("*7*");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20000; ++i) {
      const std::string name = "kernel_" + std::to_string(i) + "_x";
      ASSERT_EQ(names.matches(name.c_str()), name.find('7') != std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace profshim::session
