// Names and roles of CUDA functions by CUPTI's callback id. Ids are stable since CUDA 11.8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api.h"

namespace profshim::device {

enum class ApiRole : std::uint8_t {
  kIgnored,
  kOther,
  kLaunch,  // device activity may go on after the call
  kGraphLaunch,
  kCopy,          // like a launch; has no device activity if it has no bytes
  kSyncCopy,      // waits for its device activity; has none between host buffers
  kDeviceSync,    // waits for a whole context
  kBeginCapture,  // later launches go into a graph
  kEndCapture,
};

ApiRole role_of_api(std::string_view plain_name);
bool launches_activity(ApiRole role);

class ApiNames {
 public:
  struct Entry {
    std::string name;
    ApiRole role = ApiRole::kIgnored;
  };
  void load(const CuptiApi& api);
  /// A function that CUPTI cannot name is "runtime API 512".
  const Entry& entry_of(bool runtime, std::uint32_t callback_id);

 private:
  static constexpr std::uint32_t kMost = 4096;
  std::vector<Entry> entries_[2];
};

}  // namespace profshim::device
