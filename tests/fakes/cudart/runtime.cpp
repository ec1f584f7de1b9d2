#include "fakes/cudart/runtime.h"

namespace fake::cudart {

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

Kernel* kernel_of(const void* stub) {
  const std::lock_guard lock(registry().lock);
  const auto found = registry().kernels.find(stub);
  return found == registry().kernels.end() ? nullptr : &found->second;
}

fake::Device* bring_up(int* error) {
  fake::Device* const device = fake::device_or_null();
  *error = device ? device->init() : kInsufficientDriver;
  if (*error != 0) last_error = *error;
  return *error == 0 ? device : nullptr;
}

}  // namespace fake::cudart
