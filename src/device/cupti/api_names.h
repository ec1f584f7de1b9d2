// ApiNames: the functions of the CUDA runtime and driver APIs by CUPTI's callback ids: their names, and whether they
// are recorded and launch something. The ids have not changed since CUDA 11.8; names gained and lost version suffixes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api.h"

namespace profshim::device {

enum class ApiRole : std::uint8_t {
  kIgnored,       // not recorded
  kOther,         // recorded
  kLaunch,        // launches device activity that goes on after the call
  kGraphLaunch,   // launches every node of a graph
  kSyncLaunch,    // launches device activity and waits for it, or launches none (a copy between host buffers)
  kDeviceSync,    // waits for all activity of a context
  kBeginCapture,  // from here on launches go into a graph ...
  kEndCapture,    // ... until here
};

/// Derives the role of a function from its name.
ApiRole role_of_api(std::string_view plain_name);

class ApiNames {
 public:
  struct Entry {
    std::string name;
    ApiRole role = ApiRole::kIgnored;
  };
  /// Asks CUPTI for the names of both APIs. A second call does nothing.
  void load(const CuptiApi& api);
  /// Returns the function with this id. One that CUPTI does not name gets the name "runtime API 512" and is recorded.
  const Entry& of(bool runtime, std::uint32_t callback_id);
  /// Returns the ids of the functions to record.
  std::vector<std::uint32_t> wanted(bool runtime) const;

 private:
  static constexpr std::uint32_t kMost = 4096;
  std::vector<Entry> entries_[2];
};

}  // namespace profshim::device
