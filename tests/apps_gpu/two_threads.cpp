// two_threads [launches] [pairs]: two threads launch on a stream each; or so many pairs of them at a time.
#include <thread>
#include <vector>

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
  const int pairs = count > 2 ? std::atoi(arguments[2]) : 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < pairs; ++i) {
    threads.emplace_back(run, true);
    threads.emplace_back(run, false);
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("kernels %d\nleft %d\nright %d\n", 2 * pairs * launches, pairs * launches, pairs * launches);
  return 0;
}
