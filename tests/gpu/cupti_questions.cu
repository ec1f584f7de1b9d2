// What CUPTI does on this machine, asked without profshim: the questions that no machine without a GPU answers. For
// scripts/gpu_check.sh, which puts the answers into its results.
//   cupti_questions            prints one answer per line; exit status 1 when CUPTI refuses what profshim relies on
#include <cuda_runtime.h>
#include <cupti.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void empty_kernel() {}
__global__ void busy_kernel(unsigned long long nanoseconds) {
  unsigned long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
std::atomic<long> records{0}, kernels{0}, buffers{0}, on_callers_thread{0};
std::atomic<std::uint64_t> last_begin{0}, last_end{0};
std::atomic<int> fault{0};
pid_t main_thread = 0;

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = "";
  cuptiGetResultString(result, &text);
  std::printf("%s: %s\n", what, text);
  fault = 1;
}
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cupti_questions: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *most = 0;
}
void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  buffers.fetch_add(1);
  if (static_cast<pid_t>(syscall(SYS_gettid)) == main_thread) on_callers_thread.fetch_add(1);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    records.fetch_add(1);
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    kernels.fetch_add(1);
    const auto* const kernel = reinterpret_cast<const CUpti_ActivityKernel4*>(record);  // a prefix of all later ones
    last_begin = kernel->start;
    last_end = kernel->end;
  }
  std::free(buffer);
}

std::uint64_t CUPTIAPI tsc() { return __rdtsc(); }

constexpr int kLaunches = 100000;
double ns_per_launch() {
  check(cudaDeviceSynchronize(), "synchronise");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) empty_kernel<<<1, 32>>>();
  check(cudaDeviceSynchronize(), "synchronise");
  const auto length = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(length).count()) / kLaunches;
}

void cost() {
  ns_per_launch();  // warm
  std::printf("launch, nothing enabled: %.0f ns\n", ns_per_launch());
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enable CONCURRENT_KERNEL");
  ns_per_launch();
  std::printf("launch, CONCURRENT_KERNEL: %.0f ns\n", ns_per_launch());
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME), "enable RUNTIME");
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER), "enable DRIVER");
  std::printf("launch, and RUNTIME and DRIVER whole: %.0f ns\n", ns_per_launch());
  check(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME), "disable RUNTIME");
  check(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER), "disable DRIVER");
#if CUPTI_API_VERSION >= 24
  for (const CUpti_CallbackId id : {211, 214, 430, 431, 505, 506}) cuptiActivityEnableRuntimeApi(id, 1);
  for (const CUpti_CallbackId id : {307, 442, 652, 653}) cuptiActivityEnableDriverApi(id, 1);
  std::printf("launch, and RUNTIME and DRIVER by callback id: %.0f ns\n", ns_per_launch());
  for (const CUpti_CallbackId id : {211, 214, 430, 431, 505, 506}) cuptiActivityEnableRuntimeApi(id, 0);
  for (const CUpti_CallbackId id : {307, 442, 652, 653}) cuptiActivityEnableDriverApi(id, 0);
#endif
  check(cuptiActivityFlushAll(0), "flush");
  std::printf("buffers completed so far: %ld, of them on the launching thread: %ld\n", buffers.load(),
              on_callers_thread.load());
}

/// Does FlushAll(0) hand over finished records while the device works on?
void flush_while_busy() {
  check(cuptiActivityFlushAll(0), "flush");
  const long before = kernels;
  for (int i = 0; i < 100; ++i) empty_kernel<<<1, 32>>>();
  check(cudaDeviceSynchronize(), "synchronise");
  busy_kernel<<<1, 1>>>(300'000'000);
  check(cuptiActivityFlushAll(0), "flush");
  std::printf("FlushAll(0) while a kernel runs: %ld of 100 finished kernels handed over\n", kernels - before);
  check(cudaDeviceSynchronize(), "synchronise");
  check(cuptiActivityFlushAll(0), "flush");
  std::printf("and %ld of 101 after it\n", kernels - before);
}

/// Kernel times come in the clock that the callback returns?
void own_clock() {
  const std::uint64_t before = __rdtsc();
  busy_kernel<<<1, 1>>>(10'000'000);
  check(cudaDeviceSynchronize(), "synchronise");
  const std::uint64_t after = __rdtsc();
  check(cuptiActivityFlushAll(0), "flush");
  const bool inside = before <= last_begin && last_begin < last_end && last_end <= after;
  std::printf("kernel times with a timestamp callback on the TSC: %s (10 ms are %llu of %llu ticks)\n",
              inside ? "inside of the host's interval" : "NOT inside of the host's interval",
              static_cast<unsigned long long>(last_end - last_begin), static_cast<unsigned long long>(after - before));
}

void attributes() {
  std::uint8_t per_thread = 0;
  std::size_t size = sizeof per_thread;
  if (cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread) == CUPTI_SUCCESS) {
    std::printf("buffers per thread by default: %s\n", per_thread != 0 ? "yes" : "no");
  }
  std::size_t bytes = 0;
  size = sizeof bytes;
  if (cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &bytes) == CUPTI_SUCCESS) {
    std::printf("device buffer: %zu bytes by default\n", bytes);
  }
}

void at_exit() {
  const long before = kernels;
  const CUptiResult result = cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::printf("flush in an atexit handler: result %d, %ld of 50 kernels handed over\n", static_cast<int>(result),
              kernels - before);
}

}  // namespace

int main() {
  main_thread = static_cast<pid_t>(syscall(SYS_gettid));
  std::uint32_t version = 0;
  cuptiGetVersion(&version);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::printf("CUPTI %u, runtime %d, driver %d\n", version, runtime, driver);
  attributes();
  check(cuptiActivityRegisterTimestampCallback(tsc), "timestamp callback");
  check(cuptiActivityRegisterCallbacks(requested, completed), "buffer callbacks");
  check(cudaFree(nullptr), "initialise");
  std::atexit(at_exit);
  cost();
  flush_while_busy();
  own_clock();
  check(cuptiActivityFlushAll(0), "flush");
  for (int i = 0; i < 50; ++i) empty_kernel<<<1, 32>>>();
  check(cudaDeviceSynchronize(), "synchronise");
  return fault;
}
