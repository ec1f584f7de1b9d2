// machine MODE [kernels]
//   devices   the same number of kernels on a stream of each device
//   fork      the child uses no CUDA and ends with status 7
//   contexts  two contexts of one device at the same time
//   cut       SIGTERM while kernels run
//   reset     cudaDeviceReset after half of the kernels
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string_view>
#include <vector>

#include "cuda_api.h"

#if !defined(__CUDACC__)
extern "C" cudaError_t cudaDeviceReset();
#endif

KERNEL(some_kernel)

static void run(int kernels, cudaStream_t stream) {
  for (int i = 0; i < kernels; ++i) LAUNCH(some_kernel, 2, 64, stream);
}

static int on_devices(int kernels) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  std::vector<cudaStream_t> streams(static_cast<std::size_t>(devices));
  for (int device = 0; device < devices; ++device) {
    check(cudaSetDevice(device));
    check(cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(device)], cudaStreamNonBlocking));
  }
  for (int device = 0; device < devices; ++device) {
    check(cudaSetDevice(device));
    run(kernels, streams[static_cast<std::size_t>(device)]);
  }
  for (int device = 0; device < devices; ++device) {
    check(cudaSetDevice(device));
    check(cudaDeviceSynchronize());
  }
  return devices * kernels;
}

static int with_a_child(int kernels) {
  run(kernels / 2, nullptr);
  check(cudaDeviceSynchronize());
  const pid_t child = fork();
  if (child == 0) std::exit(7);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) return -1;
  run(kernels / 2, nullptr);
  check(cudaDeviceSynchronize());
  return kernels / 2 * 2;
}

static int with_a_reset(int kernels) {
  run(kernels / 2, nullptr);
  check(cudaDeviceSynchronize());
  check(cudaDeviceReset());
  run(kernels / 2, nullptr);
  check(cudaDeviceSynchronize());
  return kernels / 2 * 2;
}

static int cut(int kernels) {
  run(kernels, nullptr);
  return raise(SIGTERM) == 0 ? kernels : -1;
}

// CUDA 13's cuda.h gives cuCtxCreate other arguments, so dlsym() finds cuCtxCreate_v2.
static int in_two_contexts(int kernels) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto create = reinterpret_cast<int (*)(void**, unsigned, int)>(dlsym(driver, "cuCtxCreate_v2"));
  const auto make_current = reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuCtxSetCurrent"));
  void* contexts[2] = {};
  check(cudaSetDevice(0));
  for (void*& context : contexts) {
    if (create(&context, 0, 0) != 0) return -1;
  }
  for (int i = 0; i < kernels; ++i) {
    if (make_current(contexts[i % 2]) != 0) return -1;
    LAUNCH(some_kernel, 2, 64, nullptr);
  }
  for (void* const context : contexts) {
    if (make_current(context) != 0) return -1;
    check(cudaDeviceSynchronize());
  }
  return kernels;
}

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  const int kernels = count > 2 ? std::atoi(arguments[2]) : 40;
  const int done = mode == "devices"    ? on_devices(kernels)
                   : mode == "cut"      ? cut(kernels)
                   : mode == "fork"     ? with_a_child(kernels)
                   : mode == "contexts" ? in_two_contexts(kernels)
                   : mode == "reset"    ? with_a_reset(kernels)
                                        : -1;
  std::printf("kernels %d\n", done);
  return done > 0 ? 0 : 1;
}
