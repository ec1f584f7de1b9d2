// Usage: cublas LAUNCHES [WORKSPACE_BYTES]: kernels of its own, by the dynamic CUDA runtime, and as many products by
// cuBLAS, half of them for the legacy default stream; then functions of the driver, found by cudaGetDriverEntryPoint.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cuda_api.h"

extern "C" {
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetStream_v2(void*, void*);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
                   float*, int);
int cublasSetWorkspace_v2(void*, void*, std::size_t);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
}

KERNEL(own_kernel)

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 100;
  void* blas = nullptr;
  check(cublasCreate_v2(&blas));
  for (int i = 0; i < launches; ++i) {
    LAUNCH(own_kernel, 1, 1, nullptr);
    check(cublasSetStream_v2(blas, i % 2 == 0 ? nullptr : reinterpret_cast<void*>(2)));
    check(cublasSgemm_v2(blas, 0, 0, 64, 64, 64, nullptr, nullptr, 64, nullptr, 64, nullptr, nullptr, 64));
  }
  void* found = nullptr;
  int status = 0;
  check(cudaGetDriverEntryPoint("cuCtxSynchronize", &found, 0, &status));
  check(reinterpret_cast<int (*)()>(found)());
  const int refused = count > 2 ? cublasSetWorkspace_v2(blas, nullptr, std::strtoull(arguments[2], nullptr, 10)) : 0;
  check(cudaDeviceSynchronize());
  check(cublasDestroy_v2(blas));
  std::printf("kernels %d\nrefused %d\n", 2 * launches, refused);
  return 0;
}
