// The long kernel is alone on a stream older than the window.
#include "cuda_api.h"
#include "nvtx_ranges.h"

KERNEL(quick_kernel)
KERNEL(long_kernel)

int main() {
  cudaStream_t quick, old;
  check(cudaStreamCreateWithFlags(&quick, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&old, cudaStreamNonBlocking));
  for (int step = 0; step < 60; ++step) {
    nvtxRangePushA("step");
    if (step == 6) LAUNCH(long_kernel, 1, 32, old);
    for (int i = 0; i < 10; ++i) LAUNCH(quick_kernel, 1, 32, quick);
    check(cudaStreamSynchronize(quick));
    nvtxRangePop();
  }
  check(cudaStreamSynchronize(old));
  std::printf("kernels 601\n");
  return 0;
}
