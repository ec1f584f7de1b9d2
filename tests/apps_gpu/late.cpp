#include "cuda_api.h"
#include "nvtx_ranges.h"

KERNEL(slow_kernel)

int main(int count, char** arguments) {
  const int steps = count > 1 ? std::atoi(arguments[1]) : 20;
  check(cudaFree(nullptr));
  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("step");
    for (int i = 0; i < 5; ++i) LAUNCH(slow_kernel, static_cast<unsigned>(step + 1), 32, nullptr);
    nvtxRangePop();
  }
  check(cudaDeviceSynchronize());
  std::printf("kernels %d\nsteps %d\n", 5 * steps, steps);
  return 0;
}
