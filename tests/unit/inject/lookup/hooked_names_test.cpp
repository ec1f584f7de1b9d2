#include "inject/lookup/hooked_names.h"

#include <gtest/gtest.h>

#include <string>

namespace profshim::inject {
namespace {

TEST(HookedNames, EachRowIsFoundByItsNameAlone) {
  for (auto i = static_cast<int>(HookId::kNone); i < static_cast<int>(HookId::kCount); ++i) {
    const auto hook = static_cast<HookId>(i);
    const std::string name(hook_name(hook));
    if (name.empty()) continue;

    const std::uint32_t number = hooked_name(name.c_str());

    ASSERT_NE(number, 0u) << name;
    EXPECT_EQ(&hooked_function(number).real, &real_function(hook)) << name;
    EXPECT_EQ(hooked_function(number).layer, hook_layer(hook)) << name;
    EXPECT_EQ(hooked_name((name + "x").c_str()), 0u);
    EXPECT_EQ(hooked_name(name.substr(1).c_str()), 0u) << name;
  }
}

TEST(HookedNames, FunctionsThatLookUpTheDriverHaveHooks) {
  const std::uint32_t number = hooked_name("cuGetProcAddress_v2");

  ASSERT_NE(number, 0u);
  EXPECT_EQ(&hooked_function(number).real, &real_function(OtherHook::cuGetProcAddress_v2));
  EXPECT_EQ(hooked_function(number).layer, Layer::kCuda);
}

TEST(HookedNames, OtherNamesHaveNoHook) {
  for (const char* name : {"", "M", "PMPI_Send", "MPI_", "malloc", "cuGetProcAddres", "ncclGetVersion"}) {
    EXPECT_EQ(hooked_name(name), 0u) << name;
  }
  EXPECT_EQ(hooked_name(std::string(100'000, 'M').c_str()), 0u);
}

}  // namespace
}  // namespace profshim::inject
