// Hooks of the functions that return functions of the CUDA driver. A static CUDA runtime, as in cuBLAS, cuDNN and NCCL,
// reaches the driver by these alone: dlsym(libcuda, "cuGetProcAddress_v2"), then one call for each function.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "abi.h"
#include "hooks.h"
#include "inject/activation.h"
#include "inject/core/loader/real_function.h"
#include "inject/core/loader/resolve.h"
#include "inject/core/macros.h"

namespace profshim::cuda {
namespace {

using Flags = std::uint64_t;
using Lookup = int(const char*, void**, int, Flags);
using LookupV2 = int(const char*, void**, int, Flags, int*);
using RuntimeLookup = int(const char*, void**, Flags, int*);
using RuntimeLookupByVersion = int(const char*, void**, unsigned, Flags, int*);

/// The newest CUDA whose functions are known to have the arguments of the rows.
constexpr int kLastKnownVersion = 13999;

template <class Signature>
Signature* real(inject::OtherHook hook, const char* name) {
  const char* const names[] = {name};
  return reinterpret_cast<Signature*>(inject::real_function(hook).get(Layer::kCuda, names));
}

bool is_same_object(const void* one, const void* other) {
  return inject::object_at(one).headers == inject::object_at(other).headers;
}

// cuGetProcAddress() itself, asked for by its own name.
constinit std::atomic<void*> looked_up_v1{nullptr}, looked_up_v2{nullptr};
int look_up_v1(const char* name, void** function, int version, Flags flags);
int look_up_v2(const char* name, void** function, int version, Flags flags, int* status);

/// Returns null if `known` has another function already.
void* take(std::atomic<void*>& known, void* found, void* hook) {
  void* taken = nullptr;
  const bool is_taken = known.compare_exchange_strong(taken, found, std::memory_order_acq_rel) || taken == found;
  return is_taken ? hook : nullptr;
}

void* hook_of(const char* name, int version, void* found) {
  if (std::strcmp(name, "cuGetProcAddress") != 0) return hook_of_driver_function(name, version, found);
  // CUDA 12 added the argument `status`.
  return version < 12000 ? take(looked_up_v1, found, reinterpret_cast<void*>(&look_up_v1))
                         : take(looked_up_v2, found, reinterpret_cast<void*>(&look_up_v2));
}

/// The launches of a dynamic runtime are seen by the hooks of its own functions, and CUPTI's calls are no calls of the
/// job.
void replace(const char* name, void** function, int version, const void* caller) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  if (version > kLastKnownVersion || !inject::hooks_lookups()) return;
  const int saved_errno = errno;
  if (!inject::belongs(inject::object_at(caller).name, Layer::kCuda) &&
      !is_same_object(*function, reinterpret_cast<const void*>(&look_up_v1))) {
    if (void* const hook = hook_of(name, version, *function)) *function = hook;
  }
  errno = saved_errno;
}

int look_up_v1(const char* name, void** function, int version, Flags flags) {
  auto* const forward = reinterpret_cast<Lookup*>(looked_up_v1.load(std::memory_order_acquire));
  const int result = forward(name, function, version, flags);
  if (result == 0) replace(name, function, version, __builtin_return_address(0));
  return result;
}

int look_up_v2(const char* name, void** function, int version, Flags flags, int* status) {
  auto* const forward = reinterpret_cast<LookupV2*>(looked_up_v2.load(std::memory_order_acquire));
  const int result = forward(name, function, version, flags, status);
  if (result == 0) replace(name, function, version, __builtin_return_address(0));
  return result;
}

/// The version of the runtime, for which it asks the driver.
int runtime_version() {
  auto* const get = reinterpret_cast<int (*)(int*)>(inject::resolve("cudaRuntimeGetVersion", Layer::kCuda));
  int version = 0;
  return get != nullptr && get(&version) == 0 ? version : kLastKnownVersion + 1;
}

int in_runtime(inject::OtherHook hook, const char* own_name, const char* name, void** function, Flags flags,
               int* status, const void* caller) {
  auto* const forward = real<RuntimeLookup>(hook, own_name);
  if (forward == nullptr) return kSymbolNotFound;
  const int result = forward(name, function, flags, status);
  if (result == 0) replace(name, function, runtime_version(), caller);
  return result;
}

int in_runtime(inject::OtherHook hook, const char* own_name, const char* name, void** function, unsigned version,
               Flags flags, int* status, const void* caller) {
  auto* const forward = real<RuntimeLookupByVersion>(hook, own_name);
  if (forward == nullptr) return kSymbolNotFound;
  const int result = forward(name, function, version, flags, status);
  if (result == 0) replace(name, function, static_cast<int>(version), caller);
  return result;
}

}  // namespace
}  // namespace profshim::cuda

using profshim::inject::OtherHook;

PROFSHIM_EXPORT int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  using namespace profshim::cuda;
  auto* const forward = real<Lookup>(OtherHook::cuGetProcAddress, "cuGetProcAddress");
  if (forward == nullptr) return kSymbolNotFound;
  const int result = forward(name, function, version, flags);
  if (result == 0) replace(name, function, version, __builtin_return_address(0));
  return result;
}

PROFSHIM_EXPORT int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                                        int* status) {
  using namespace profshim::cuda;
  auto* const forward = real<LookupV2>(OtherHook::cuGetProcAddress_v2, "cuGetProcAddress_v2");
  if (forward == nullptr) return kSymbolNotFound;
  const int result = forward(name, function, version, flags, status);
  if (result == 0) replace(name, function, version, __builtin_return_address(0));
  return result;
}

// CUDA 11 has no `status`; a callee with fewer arguments ignores it.
#define RUNTIME_LOOKUP(hook)                                                                      \
  PROFSHIM_EXPORT int hook(const char* name, void** function, std::uint64_t flags, int* status) { \
    return profshim::cuda::in_runtime(OtherHook::hook, #hook, name, function, flags, status,      \
                                      __builtin_return_address(0));                               \
  }
RUNTIME_LOOKUP(cudaGetDriverEntryPoint)
RUNTIME_LOOKUP(cudaGetDriverEntryPoint_ptsz)

#define RUNTIME_LOOKUP_BY_VERSION(hook)                                                                             \
  PROFSHIM_EXPORT int hook(const char* name, void** function, unsigned version, std::uint64_t flags, int* status) { \
    return profshim::cuda::in_runtime(OtherHook::hook, #hook, name, function, version, flags, status,               \
                                      __builtin_return_address(0));                                                 \
  }
RUNTIME_LOOKUP_BY_VERSION(cudaGetDriverEntryPointByVersion)
RUNTIME_LOOKUP_BY_VERSION(cudaGetDriverEntryPointByVersion_ptsz)
