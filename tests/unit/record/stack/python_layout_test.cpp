#include "record/stack/python_layout.h"

#include <gtest/gtest.h>

namespace profshim::recorder::python {
namespace {

TEST(PythonLayout, ReadsTheVersionOfAFinalRelease) {
  EXPECT_EQ(version_in("3.10.13 (main, Aug 25 2023, 13:20:03) [GCC 9.4.0]"), 0x030a0df0u);
  EXPECT_EQ(version_in("3.10.13+ (heads/3.10:d5a1f2c, Sep  1 2023, 10:00:00) [GCC 9.4.0]"), 0x030a0df0u);
}

TEST(PythonLayout, AnyOtherVersionIsUnknown) {
  for (const char* text :
       {"3.10.0rc1 (tags/v3.10.0rc1, ...)", "3.10.0a7 (default)", "3.10 (main)", "3.10.13", "", "PyPy"})
    EXPECT_EQ(version_in(text), 0u) << text;
}

}  // namespace
}  // namespace profshim::recorder::python
