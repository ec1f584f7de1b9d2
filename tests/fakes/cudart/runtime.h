// The fake libcudart has the functions that programs built by "nvcc -cudart shared" call, with the SONAMEs and version
// nodes of CUDA 11, 12 and 13 (FAKE_CUDART_VERSION: 11080, 12040, 13000, 13020, 13030).
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "fakes/libcuda/device.h"

namespace fake::cudart {

inline constexpr int kInsufficientDriver = 35, kInvalidDeviceFunction = 98;

struct Kernel {
  std::string name;
};

struct Registry {
  std::mutex lock;
  std::map<const void*, Kernel> kernels;  // by the host stub's address
  std::map<const void*, std::size_t> variables;
};
Registry& registry();

Kernel* kernel_of(const void* stub);

struct Driver;
const Driver& driver();

inline constinit thread_local int last_error = 0;

/// Initializes the device at the first call. Returns null on failure.
fake::Device* bring_up(int* error);

constexpr bool needs_context(std::string_view function) {
  return !function.starts_with("cudaGetDeviceCount") && !function.starts_with("cudaDriverGetVersion") &&
         !function.starts_with("cudaRuntimeGetVersion");
}

/// Ends an API function. cudaGetLastError returns failures, except cudaErrorNotReady.
inline int leave(ApiCall& call, int result) {
  if (result != 0 && result != fake::kNotReady) last_error = result;
  return call.returns(result);
}

}  // namespace fake::cudart

#define EXPORT extern "C" __attribute__((visibility("default")))

// Begins an API function: defines `device` and `call`, or returns the error.
#define CALL_WITH(label, callback_id, parameters, symbol)                           \
  int error = 0;                                                                    \
  fake::Device* const device_pointer = bring_up(&error);                            \
  if (!device_pointer) return error;                                                \
  fake::Device& device = *device_pointer;                                           \
  static constexpr fake::ApiInfo kInfo{fake::Domain::kRuntime, callback_id, label}; \
  if (needs_context(label)) device.make_first_context();                            \
  fake::ApiCall call(device, kInfo, parameters, symbol)
#define CALL(label, callback_id) CALL_WITH(label, callback_id, nullptr, nullptr)
