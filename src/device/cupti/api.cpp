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
             ": this machine allows profiling to administrators only (NVreg_RestrictProfilingToAdminUsers=0 "
             "or, in a container, CAP_SYS_ADMIN changes that)";
    case cupti::kMultipleSubscribers:
      return text + ": Nsight, cuda-gdb or another copy of CUPTI, linked into the program, uses the driver";
    case cupti::kUnknown:
      return text + ": the driver may be older than this CUPTI (it supports CUDA " +
             std::to_string(driver_version() / 1000) + "." + std::to_string(driver_version() % 1000 / 10) + ")";
    case cupti::kNotCompatible:
      return text + ": another client uses the other form of CUPTI's activity API";
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
