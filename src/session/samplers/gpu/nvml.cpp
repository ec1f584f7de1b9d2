#include "nvml.h"

#include <dlfcn.h>

#include "profshim/base/text/message_text.h"
#include "profshim/base/threads/loader_lock.h"

namespace profshim::session {
namespace {

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

bool Nvml::open(std::string& why_not) {
  // Never closed: NVML has threads and handlers of its own in some releases.
  void* const library = [] {
    const ForksWait until_it_is_loaded;
    return dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  }();
  if (library == nullptr) {
    why_not = loader_error_text();
    if (why_not.empty()) why_not = "libnvidia-ml.so.1 cannot be opened";
    return false;
  }
  int (*init)() = nullptr;
  look_up(library, "nvmlInit_v2", init);
  look_up(library, "nvmlErrorString", error_string);
  look_up(library, "nvmlDeviceGetHandleByUUID", handle_by_uuid);
  look_up(library, "nvmlDeviceGetHandleByPciBusId_v2", handle_by_pci_bus_id);
  look_up(library, "nvmlDeviceGetUtilizationRates", utilization);
  look_up(library, "nvmlDeviceGetMemoryInfo", memory);
  look_up(library, "nvmlDeviceGetClockInfo", clock);
  look_up(library, "nvmlDeviceGetPowerUsage", power);
  if (init == nullptr) {
    why_not = "libnvidia-ml.so.1 has no nvmlInit_v2";
    return false;
  }
  // Counted: the job's own nvmlInit and nvmlShutdown are not affected. We never shut down.
  const int result = init();
  if (result != kSuccess) why_not = "nvmlInit_v2 failed: " + reason(result);
  return result == kSuccess;
}

std::string Nvml::reason(int result) const {
  const char* const text = error_string != nullptr ? error_string(result) : nullptr;
  return text != nullptr ? text : "error " + std::to_string(result);
}

}  // namespace profshim::session
