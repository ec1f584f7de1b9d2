#include "kineto/device/device_names.h"

#include <gtest/gtest.h>

namespace profshim {
namespace {

TEST(DeviceNames, UnmangledNameStays) {
  EXPECT_EQ(kineto::demangled("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(kineto::demangled("_Znot a name"), "_Znot a name");
  const std::string too_long = "_Z" + std::string(5000, 'f');
  EXPECT_EQ(kineto::demangled(too_long), too_long);
  // f(A<int, int>, A<S0_, S0_>, A<S1_, S1_>, ...): each parameter's name is twice as long as the one before.
  std::string gigabytes = "_Z1f1AIiiE";
  for (const char i : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUV")) {
    const std::string before = std::string("S") + i + "_";
    gigabytes += "S_I" + before + before + "E";
  }
  EXPECT_EQ(kineto::demangled(gigabytes), gigabytes);
}

TEST(DeviceNames, KindsOfCupti) {
  EXPECT_EQ(kineto::copy_kind_name(8), "DtoD");
  EXPECT_EQ(kineto::copy_kind_name(15), "<unknown>");
  EXPECT_EQ(kineto::memory_kind_name(6), "Device Static");
  EXPECT_EQ(kineto::memory_kind_name(9), "Unrecognized");
  EXPECT_EQ(kineto::sync_kind_name(77), "Unknown Sync");
  EXPECT_EQ(kineto::overhead_kind_name(1), "Buffer Flush");
  EXPECT_EQ(kineto::overhead_kind_name(99), "Unrecognized");
}

}  // namespace
}  // namespace profshim
