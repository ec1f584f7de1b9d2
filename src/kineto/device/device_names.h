// The names of device events as Kineto writes them: kernels demangled, copies by their kinds, API calls without CUPTI's
// suffixes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profshim/spool/view.h"

namespace profshim::kineto {

/// Names a CUpti_ActivityMemcpyKind ("HtoD"), or returns "<unknown>".
std::string_view copy_kind_name(unsigned kind);
/// Names a CUpti_ActivityMemoryKind ("Pageable"), or returns "Unrecognized".
std::string_view memory_kind_name(unsigned kind);
/// Names a CUpti_ActivitySynchronizationType ("Stream Sync"), or returns "Unknown Sync".
std::string_view sync_kind_name(unsigned kind);
/// Names a CUpti_ActivityOverheadKind >> 16 (as in GpuArgs::kind; "Buffer Flush"), or returns "Unrecognized".
std::string_view overhead_kind_name(unsigned kind);
/// Demangles a name ("void add<float>(float*)"); returns a name that is not mangled as it is.
std::string demangled(std::string_view name);

/// Makes each name once. The names live as long as the object and the spool.
class DeviceNames {
 public:
  explicit DeviceNames(const spool::View& view) : view_(view) {}
  /// Takes an event with ApiArgs or GpuArgs.
  std::string_view of(const Event& event);

 private:
  std::string_view kernel(StringId id);
  std::string_view copy(std::uint16_t packed_kinds);
  std::string_view memset(std::uint16_t kind);

  const spool::View& view_;
  std::unordered_map<StringId, std::string> kernels_;
  std::unordered_map<std::uint32_t, std::string> others_;  // by (1 = copy, 2 = memset) << 16 | kinds
};

}  // namespace profshim::kineto
