// two_threads [launches per thread] [pairs of threads] [ids]: threads live until the program ends. "ids" prints tids.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cuda_api.h"

KERNEL(left_kernel)
KERNEL(right_kernel)

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 500;
  const int pairs = count > 2 ? std::atoi(arguments[2]) : 1;
  const bool says_ids = count > 3;
  static std::atomic<int> done{0};
  const auto run = [launches, says_ids](bool left) {
    if (says_ids) std::printf("%s_thread %ld\n", left ? "left" : "right", syscall(SYS_gettid));
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
    ++done;
    for (;;) pause();
  };
  for (int i = 0; i < pairs; ++i) {
    std::thread(run, true).detach();
    std::thread(run, false).detach();
  }
  while (done < 2 * pairs) std::this_thread::yield();
  std::printf("kernels %d\nleft %d\nright %d\n", 2 * pairs * launches, pairs * launches, pairs * launches);
  return 0;
}
