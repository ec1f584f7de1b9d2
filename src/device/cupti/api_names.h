// Names and roles of CUDA functions by CUPTI's callback id. Ids are stable since CUDA 11.8; names gained and lost
// version suffixes.
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
  kLaunch,        // device activity may go on after the call
  kGraphLaunch,   // launches all nodes of a graph
  kSyncLaunch,    // waits for its device activity, or has none (between host buffers)
  kDeviceSync,    // waits for a whole context
  kBeginCapture,  // launches go into a graph ...
  kEndCapture,    // ... until here
};

ApiRole role_of_api(std::string_view plain_name);

class ApiNames {
 public:
  struct Entry {
    std::string name;
    ApiRole role = ApiRole::kIgnored;
  };
  /// A second call does nothing.
  void load(const CuptiApi& api);
  /// If CUPTI has no name for a function, the name is "runtime API 512".
  const Entry& of(bool runtime, std::uint32_t callback_id);
  std::vector<std::uint32_t> wanted(bool runtime) const;

 private:
  static constexpr std::uint32_t kMost = 4096;
  std::vector<Entry> entries_[2];
};

}  // namespace profshim::device
