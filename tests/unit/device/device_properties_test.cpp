#include <gtest/gtest.h>

#include <string>

#include "device/capture/converter.h"

namespace profshim::device {
namespace {

TEST(DeviceProperties, AreWrittenAsKinetoDoes) {
  cupti::DeviceRecord record{};
  record.name = "A \"GPU\"";
  record.id = 900;
  record.memory_bytes = 80ull << 30;
  record.threads_per_warp = 32;
  record.warps_per_multiprocessor = 64;
  record.shared_per_multiprocessor = 233472;
  record.major = 9;
  const std::string json = device_properties(record);
  EXPECT_NE(json.find("\"name\": \"A \\\"GPU\\\"\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"maxThreadsPerMultiprocessor\": 2048"), std::string::npos) << json;
  EXPECT_NE(json.find("\"sharedMemPerBlockOptin\": 232448"), std::string::npos) << json;
}

}  // namespace
}  // namespace profshim::device
