// The functions of the CUDA runtime and driver APIs by CUPTI's numbers: which of them are recorded, under which name,
// and what they mean for the device. Numbers have not changed since CUDA 11.8; names gained and lost their versions.
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
  kLaunch,        // starts device work that goes on after the call
  kGraphLaunch,   // likewise, of every node of a graph
  kSyncLaunch,    // starts device work and waits for it, or starts none at all (a copy between host buffers)
  kDeviceSync,    // waits for all work of a context
  kBeginCapture,  // from here on launches go into a graph ...
  kEndCapture,    // ... until here
};

/// "cudaLaunchKernel" for "__cudaLaunchKernel_v13000", "cudaMemcpyAsync" for "cudaMemcpyAsync_ptsz_v7000". The 2 or 3
/// digits of a "_v2" belong to the name.
std::string plain_api_name(std::string_view callback_name);
/// By name: a launch, copy, memset, graph launch, synchronisation, allocation, event record or wait, or a capture.
ApiRole role_of_api(std::string_view plain_name);

class ApiNames {
 public:
  struct Entry {
    std::string name;
    ApiRole role = ApiRole::kIgnored;
  };
  /// Asks CUPTI for all names of both APIs, once.
  void load(const CuptiApi& api);
  /// Never null; what CUPTI does not name is recorded as "runtime API 512".
  const Entry& of(bool runtime, std::uint32_t callback_id);
  /// The numbers that are recorded.
  std::vector<std::uint32_t> wanted(bool runtime) const;

 private:
  static constexpr std::uint32_t kMost = 4096;
  std::vector<Entry> entries_[2];
};

}  // namespace profshim::device
