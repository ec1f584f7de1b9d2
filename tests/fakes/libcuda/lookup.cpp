// cuGetProcAddress as the comments in cuda.h of CUDA 13.0 describe it, with the versions of cudaTypedefs.h. Searches
// this library alone, as the real driver does: no preloaded library stands in between.
#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <string>

#include "fakes/libcuda/device.h"

extern "C" fake::Device* fake_cuda_device();

namespace {

constexpr std::uint64_t kPerThreadStream = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
enum : int { kFound = 0, kNoSymbol = 1, kVersionTooLow = 2 };

/// First version of the functions that tests ask for with an older one.
int first_version(const std::string& name) {
  static const auto& known = *new std::map<std::string, int>{{"cuLaunchKernel_ptsz", 7000},
                                                             {"cuLaunchKernelEx", 11060},
                                                             {"cuLaunchKernelEx_ptsz", 11060},
                                                             {"cuMemAlloc_v2", 3020},
                                                             {"cuGetProcAddress_v2", 12000}};
  const auto found = known.find(name);
  return found == known.end() ? 2000 : found->second;
}

void* exported(const std::string& name) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&exported), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self, name.c_str());
}

void* look_up(const char* name, int version, std::uint64_t flags, int& status) {
  status = kNoSymbol;
  for (const char* ending : {"_ptsz", "_v2", ""}) {
    if (std::string(ending) == "_ptsz" && (flags & kPerThreadStream) == 0) continue;
    const std::string variant = std::string(name) + ending;
    void* const found = exported(variant);
    if (!found) continue;
    status = version >= first_version(variant) ? kFound : kVersionTooLow;
    if (status == kFound) return found;
  }
  return nullptr;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  if (version > fake_cuda_device()->driver_version()) return fake::kInvalidValue;
  int status = 0;
  *function = look_up(name, version, flags, status);
  return fake::kOk;
}

EXPORT int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status) {
  if (version > fake_cuda_device()->driver_version()) return fake::kInvalidValue;
  int seen = 0;
  *function = look_up(name, version, flags, seen);
  if (status) *status = seen;
  return fake::kOk;
}
