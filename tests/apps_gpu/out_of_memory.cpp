// out_of_memory FOLDER [LIBRARY]: allocates in each of twelve steps, by cudaMalloc() or by allocate() of the LIBRARY.
// At a failure prints the error, the last error, and how many traces and pages are in the FOLDER. The exit status is
// the number of failures.
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "cuda_api.h"
#include "nvtx_ranges.h"

KERNEL(step_kernel)

static int files_below(const std::string& folder, const std::string& ending) {
  int files = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored))
    files += entry.path().string().find(ending) != std::string::npos;
  return files;
}

int main(int, char** arguments) {
  auto* allocate = static_cast<cudaError_t (*)(void**, std::size_t)>(&cudaMalloc);
  if (arguments[2] != nullptr) {
    void* const library = dlopen(arguments[2], RTLD_NOW);
    if (library == nullptr) return 99;
    allocate = reinterpret_cast<decltype(allocate)>(dlsym(library, "allocate"));
  }
  check(cudaDeviceSynchronize());  // makes the context
  int failures = 0;
  for (int step = 0; step < 12; ++step) {
    nvtxRangePushA("train_step");
    LAUNCH(step_kernel, 64, 256, nullptr);
    void* address = nullptr;
    const cudaError_t error = allocate(&address, 4096);
    if (error != cudaSuccess) {
      ++failures;
      const cudaError_t last = cudaGetLastError();
      std::printf("step %d error %d last %d traces %d pages %d\n", step, error, last,
                  files_below(arguments[1], ".pt.trace.json"), files_below(arguments[1], ".memory.html"));
    }
    LAUNCH(step_kernel, 64, 256, nullptr);
    check(cudaDeviceSynchronize());
    if (address != nullptr) check(cudaFree(address));
    nvtxRangePop();
  }
  return failures;
}
