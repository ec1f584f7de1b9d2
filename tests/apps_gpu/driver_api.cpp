#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int cuMemAlloc_v2(void**, std::size_t);
int cuMemFree_v2(void*);
int cuMemcpyHtoD_v2(void*, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, const void*, std::size_t);
}

static void check(int error) {
  if (error == 0) return;
  std::fprintf(stderr, "CUDA driver: error %d\n", error);
  std::exit(1);
}

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 100;
  int device = 0;
  void *context = nullptr, *module = nullptr, *kernel = nullptr, *memory = nullptr;
  check(cuInit(0));
  check(cuDeviceGet(&device, 0));
  check(cuDevicePrimaryCtxRetain(&context, device));
  check(cuCtxSetCurrent(context));
  // PTX of an empty kernel; the fake driver ignores it.
  check(cuModuleLoadData(&module,
                         ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry jit_kernel()\n{ ret; }\n"));
  check(cuModuleGetFunction(&kernel, module, "jit_kernel"));
  int value = 42, back = 0;
  check(cuMemAlloc_v2(&memory, sizeof value));
  check(cuMemcpyHtoD_v2(memory, &value, sizeof value));
  for (int i = 0; i < launches; ++i) check(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
  check(cuCtxSynchronize());
  check(cuMemcpyDtoH_v2(&back, memory, sizeof back));
  check(cuMemFree_v2(memory));
  if (back != value) return 1;
  std::printf("kernels %d\ncopies 2\n", launches);
  return 0;
}
