// Maps CUDA contexts to devices: CUPTI's records of synchronizations and streams name only the context. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "profshim/event.h"

namespace profshim {

class ContextDevices {
 public:
  /// CUPTI never reuses a context id.
  void note(std::uint32_t context, std::uint32_t device) {
    devices_[context] = static_cast<std::uint16_t>(std::min<std::uint32_t>(device, kUnknownDevice));
  }
  std::uint16_t device_of(std::uint32_t context) const {
    const auto found = devices_.find(context);
    return found == devices_.end() ? kUnknownDevice : found->second;
  }
  std::size_t size() const { return devices_.size(); }
  void clear() { devices_.clear(); }

 private:
  std::unordered_map<std::uint32_t, std::uint16_t> devices_;
};

}  // namespace profshim
