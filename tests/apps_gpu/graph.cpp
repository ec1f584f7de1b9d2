#include "cuda_api.h"

KERNEL(first_kernel)
KERNEL(second_kernel)

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 20;
  void* memory = nullptr;
  check(cudaMalloc(&memory, 4096));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  LAUNCH(first_kernel, 8, 64, stream);
  LAUNCH(second_kernel, 8, 64, stream);
  check(cudaMemsetAsync(memory, 1, 4096, stream));
  LAUNCH(second_kernel, 8, 64, stream);
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t executable;
  check(cudaGraphInstantiateWithFlags(&executable, captured, 0));
  for (int i = 0; i < launches; ++i) {
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
  }
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(captured));
  check(cudaStreamDestroy(stream));
  std::printf("graph_launches %d\nkernels %d\nsets %d\n", launches, 3 * launches, launches);
  return 0;
}
