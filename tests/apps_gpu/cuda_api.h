// Without nvcc, this header also has the code that nvcc would generate: a stub, its registration and its launch.
#pragma once

#ifdef __CUDACC__
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#define KERNEL(name)                             \
  __global__ void name(float* data, int count) { \
    if (data && count < 0) data[0] = 1;          \
  }
#define LAUNCH(name, grid, block, stream) name<<<grid, block, 0, stream>>>(nullptr, 0)
#else
#include <cstddef>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
using cudaError_t = int;
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum { cudaSuccess = 0 };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

extern "C" {
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaMallocHost(void**, std::size_t);
cudaError_t cudaMallocManaged(void**, std::size_t, unsigned = 1);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemcpyPeer(void*, int, const void*, int, std::size_t);
cudaError_t cudaMemset(void*, int, std::size_t);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t = nullptr);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
}

namespace cuda_api {
struct Registration {
  Registration(const void* stub, const char* name) {
    __cudaRegisterFunction(__cudaRegisterFatBinary(nullptr), static_cast<const char*>(stub), nullptr, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }
};
/// Makes the mangled name of `name(float*, int)`.
template <std::size_t N>
struct Mangled {
  char text[N + 8];
  constexpr explicit Mangled(const char (&name)[N]) : text{} {
    std::size_t at = 0;
    text[at++] = '_';
    text[at++] = 'Z';
    if (N - 1 >= 10) text[at++] = static_cast<char>('0' + (N - 1) / 10);
    text[at++] = static_cast<char>('0' + (N - 1) % 10);
    for (std::size_t i = 0; i + 1 < N; ++i) text[at++] = name[i];
    text[at++] = 'P';
    text[at++] = 'f';
    text[at++] = 'i';
  }
};
}  // namespace cuda_api

#define KERNEL(name)                                        \
  static char name##_stub;                                  \
  static constexpr cuda_api::Mangled name##_mangled(#name); \
  static const cuda_api::Registration name##_registration(&name##_stub, name##_mangled.text);
#define LAUNCH(name, grid, block, stream) cudaLaunchKernel(&name##_stub, dim3(grid), dim3(block), nullptr, 0, stream)
#endif

#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
