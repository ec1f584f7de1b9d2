// The runtime's way to the driver: dlopen, dlsym of cuGetProcAddress_v2 (before CUDA 12: cuGetProcAddress), and one
// call of that for each function, with the version that introduced it. Seen with the static cudart 13.0, which asks for
// 440 functions; a static and a dynamic cudart share this code. cuBLAS, cuDNN and NCCL contain a static one.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace fake::cudart {

struct Driver {
  using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                     void**);
  int (*look_up)(const char* name, void** function, int version, std::uint64_t flags, int* status) = nullptr;
  int (*look_up_v1)(const char* name, void** function, int version, std::uint64_t flags) = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*retain_context)(void** context, int device) = nullptr;
  int (*set_context)(void* context) = nullptr;
  int (*load_module)(void** module, const void* image) = nullptr;
  int (*get_function)(void** function, void* module, const char* name) = nullptr;
  int (*allocate)(void** address, std::size_t bytes) = nullptr;
  Launch *launch = nullptr, *launch_per_thread = nullptr;

  explicit Driver(int version) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return;
    if (version >= 12000) {
      look_up = reinterpret_cast<decltype(look_up)>(dlsym(library, "cuGetProcAddress_v2"));
    } else {
      look_up_v1 = reinterpret_cast<decltype(look_up_v1)>(dlsym(library, "cuGetProcAddress"));
    }
    find(init, "cuInit", 2000, 0);
    find(retain_context, "cuDevicePrimaryCtxRetain", 7000, 0);
    find(set_context, "cuCtxSetCurrent", 4000, 0);
    find(load_module, "cuModuleLoadData", 2000, 0);
    find(get_function, "cuModuleGetFunction", 2000, 0);
    find(allocate, "cuMemAlloc", 3020, 0);
    find(launch, "cuLaunchKernel", 4000, 0);
    find(launch_per_thread, "cuLaunchKernel", 7000, 2);
  }

  void* function_named(const std::string& name) const {
    void *module = nullptr, *function = nullptr;
    load_module(&module, nullptr);
    get_function(&function, module, name.c_str());
    return function;
  }

  template <class Function>
  void find(Function& function, const char* name, int version, std::uint64_t flags) const {
    void* found = nullptr;
    int status = 0;
    if (look_up) look_up(name, &found, version, flags, &status);
    if (look_up_v1) look_up_v1(name, &found, version, flags);
    function = reinterpret_cast<Function>(found);
  }
};

}  // namespace fake::cudart
