// The names of device events as Kineto writes them: kernels demangled, copies by their kinds, API calls without CUPTI's
// suffixes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profshim/spool/view.h"

namespace profshim::kineto {

/// "HtoD" of CUpti_ActivityMemcpyKind; "<unknown>".
std::string_view copy_kind_name(unsigned kind);
/// "Pageable" of CUpti_ActivityMemoryKind; "Unrecognized".
std::string_view memory_kind_name(unsigned kind);
/// "Stream Sync" of CUpti_ActivitySynchronizationType; "Unknown Sync".
std::string_view sync_kind_name(unsigned kind);
/// "Buffer Flush" of CUpti_ActivityOverheadKind >> 16, as GpuArgs::kind has it; "Unrecognized".
std::string_view overhead_kind_name(unsigned kind);
/// "void add<float>(float*)" of a mangled name; the name itself when it is none.
std::string demangled(std::string_view name);
/// "cudaLaunchKernel" of "cudaLaunchKernel_v7000", "cudaLaunchKernel_ptsz" and "__cudaLaunchKernel_v13000".
std::string_view plain_api_name(std::string_view name);

/// Makes each name once. Views live as long as the object and the spool.
class DeviceNames {
 public:
  explicit DeviceNames(const spool::View& view) : view_(view) {}
  /// Of an event with ApiArgs or GpuArgs.
  std::string_view of(const Event& event);

 private:
  std::string_view kernel(StringId id);
  std::string_view copy(std::uint16_t kinds);
  std::string_view memset(std::uint16_t kind);

  const spool::View& view_;
  std::unordered_map<StringId, std::string> kernels_;
  std::unordered_map<std::uint32_t, std::string> others_;  // what << 16 | kinds
};

}  // namespace profshim::kineto
