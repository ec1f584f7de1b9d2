// The functions that return functions of the driver; see their comments in cuda_runtime_api.h of CUDA 13.0.
#include <cstdint>

#include "fakes/cudart/driver.h"
#include "fakes/cudart/runtime.h"

namespace fake::cudart {

const Driver& driver() {
  static const Driver instance(FAKE_CUDART_VERSION);
  return instance;
}

}  // namespace fake::cudart

EXPORT int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status) {
  const auto& driver = fake::cudart::driver();
  if (driver.look_up_v1) return driver.look_up_v1(name, function, FAKE_CUDART_VERSION, flags);
  return driver.look_up ? driver.look_up(name, function, FAKE_CUDART_VERSION, flags, status) : kInsufficientDriver;
}
#if FAKE_CUDART_VERSION >= 13000
EXPORT int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                            unsigned long long flags, int* status) {
  const auto& driver = fake::cudart::driver();
  return driver.look_up ? driver.look_up(name, function, static_cast<int>(version), flags, status)
                        : kInsufficientDriver;
}
#endif
