#include "cuda_api.h"

KERNEL(produce_kernel)
KERNEL(consume_kernel)

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 50;
  cudaStream_t producer, consumer;
  check(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
  cudaEvent_t begin, ready, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&ready));
  check(cudaEventCreate(&end));
  long kernels = 0, waits = 0, in_order = 0;
  for (int i = 0; i < rounds; ++i) {
    check(cudaEventRecord(begin, producer));
    LAUNCH(produce_kernel, 64, 128, producer);
    check(cudaEventRecord(ready, producer));
    check(cudaStreamWaitEvent(consumer, ready, 0));
    LAUNCH(consume_kernel, 64, 128, consumer);
    check(cudaEventRecord(end, consumer));
    check(cudaEventSynchronize(end));
    kernels += 2;
    ++waits;
    float to_ready = 0, to_end = 0;
    check(cudaEventElapsedTime(&to_ready, begin, ready));
    check(cudaEventElapsedTime(&to_end, begin, end));
    if (to_ready > 0 && to_end > to_ready) ++in_order;
  }
  check(cudaStreamDestroy(producer));
  check(cudaStreamDestroy(consumer));
  std::printf("kernels %ld\nwaits %ld\nin_order %ld\n", kernels, waits, in_order);
  return 0;
}
