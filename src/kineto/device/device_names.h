#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profshim/spool/view.h"

namespace profshim::kineto {

/// Names a CUpti_ActivityMemcpyKind: "HtoD".
std::string_view copy_kind_name(unsigned kind);
/// Names a CUpti_ActivityMemoryKind: "Pageable".
std::string_view memory_kind_name(unsigned kind);
/// Names a CUpti_ActivitySynchronizationType: "Stream Sync".
std::string_view sync_kind_name(unsigned kind);
/// Names a CUpti_ActivityOverheadKind >> 16: "Buffer Flush".
std::string_view overhead_kind_name(unsigned kind);
std::string demangled(std::string_view name);

/// Returned names live as long as the object and the spool.
class DeviceNames {
 public:
  explicit DeviceNames(const spool::View& view) : view_(view) {}
  std::string_view name_of(const Event& event);

 private:
  std::string_view kernel(StringId id);
  std::string_view copy(std::uint16_t packed_kinds);
  std::string_view memset(std::uint16_t kind);

  const spool::View& view_;
  std::unordered_map<StringId, std::string> kernels_;
  std::unordered_map<std::uint32_t, std::string> others_;  // by (1 = copy, 2 = memset) << 16 | kinds
};

}  // namespace profshim::kineto
