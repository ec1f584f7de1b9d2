// two_threads [launches]: two threads launch on a stream each.
#include <thread>

#include "cuda_api.h"

KERNEL(left_kernel)
KERNEL(right_kernel)

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 500;
  const auto run = [launches](bool left) {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < launches; ++i) {
      if (left)
        LAUNCH(left_kernel, 2, 32, stream);
      else
        LAUNCH(right_kernel, 2, 32, stream);
      if (i % 50 == 49) check(cudaStreamSynchronize(stream));
    }
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
  };
  std::thread left(run, true), right(run, false);
  left.join();
  right.join();
  std::printf("kernels %d\nleft %d\nright %d\n", 2 * launches, launches, launches);
  return 0;
}
