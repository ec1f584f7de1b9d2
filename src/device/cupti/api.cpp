#include "api.h"

#include "mapped_libraries.h"

namespace profshim::device {

std::string CuptiApi::text_of(int result) const {
  const char* name = nullptr;
  const bool named = result_string != nullptr && result_string(result, &name) == cupti::kSuccess && name != nullptr;
  const std::string text = named ? name : "CUPTI error " + std::to_string(result);
  switch (result) {
    case cupti::kInsufficientPrivileges:
    case cupti::kVirtualInsufficientPrivileges:
      return text +
             ": this machine allows profiling to administrators only (load the driver with "
             "NVreg_RestrictProfilingToAdminUsers=0, or give the container CAP_SYS_ADMIN)";
    case cupti::kMultipleSubscribers:
      return text + ": Nsight, cuda-gdb or a copy of CUPTI in the program itself is in use (run without it)";
    case cupti::kUnknown:
      return text + ": the driver (CUDA " + std::to_string(driver_version() / 1000) + "." +
             std::to_string(driver_version() % 1000 / 10) + ") may be older than this CUPTI (update the driver)";
    case cupti::kNotCompatible:
      return text +
             ": another client of CUPTI in this process excludes profshim: CUPTI serves process-wide clients or "
             "subscribers, not both (run without that client)";
    default:
      return text;
  }
}

bool CuptiApi::has_subscriber_api() const {
#define PROFSHIM_CUPTI_IS_THERE(member, symbol, ...) &&member != nullptr
  return true PROFSHIM_CUPTI_SUBSCRIBER_FUNCTIONS(PROFSHIM_CUPTI_IS_THERE);
#undef PROFSHIM_CUPTI_IS_THERE
}

}  // namespace profshim::device
