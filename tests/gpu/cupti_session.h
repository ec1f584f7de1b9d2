#pragma once

#include <cuda_runtime.h>
#include <cupti.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
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

struct Kernel {
  std::uint64_t start, end;
  std::uint32_t correlation;
  int grid;  // number of blocks; tells launches apart
};
constexpr std::size_t kBufferBytes = 1 << 20;
std::mutex lock;
std::vector<Kernel> kernels;
std::map<int, long> of_kind;
std::map<unsigned, long> of_callback;       // call records by callback id
std::map<std::uint64_t, long> of_external;  // EXTERNAL_CORRELATION records by pushed id
std::map<CUptiResult, long> of_ending;      // buffers by the result after their last record
long buffers = 0, on_callers_thread = 0;
int fault = 0;
pid_t main_thread = 0;

const char* text_of(CUptiResult result) {
  const char* text = "";
  cuptiGetResultString(result, &text);
  return text;
}
void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  std::printf("%s: %s\n", what, text_of(result));
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

void take(const CUpti_Activity* record) {
  ++of_kind[record->kind];
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto* const kernel =
        reinterpret_cast<const CUpti_ActivityKernel4*>(record);  // all later versions begin with these members
    kernels.push_back({kernel->start, kernel->end, kernel->correlationId, kernel->gridX});
  } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    ++of_callback[reinterpret_cast<const CUpti_ActivityAPI*>(record)->cbid];
  } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
    ++of_external[reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record)->externalId];
  }
}
void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard<std::mutex> guard(lock);
  ++buffers;
  if (static_cast<pid_t>(syscall(SYS_gettid)) == main_thread) ++on_callers_thread;
  CUpti_Activity* record = nullptr;
  if (valid > 0) {
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cuptiActivityGetNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) take(record);
    ++of_ending[result];
  }
  std::free(buffer);
}

void forget() {
  const std::lock_guard<std::mutex> guard(lock);
  kernels.clear();
  of_kind.clear();
  of_callback.clear();
  of_external.clear();
  of_ending.clear();
}
std::vector<Kernel> kernels_now() {
  const std::lock_guard<std::mutex> guard(lock);
  return kernels;
}
std::map<CUptiResult, long> endings_now() {
  const std::lock_guard<std::mutex> guard(lock);
  return of_ending;
}
long records_of(int kind) {
  const std::lock_guard<std::mutex> guard(lock);
  return of_kind.count(kind) != 0 ? of_kind[kind] : 0;
}

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}
std::uint64_t CUPTIAPI tsc() { return __rdtsc(); }
std::uint64_t realtime_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}
void wait() { check(cudaDeviceSynchronize(), "synchronize"); }
void flush() { check(cuptiActivityFlushAll(0), "flush"); }
void enable(CUpti_ActivityKind kind, const char* name) { check(cuptiActivityEnable(kind), name); }
void disable(CUpti_ActivityKind kind, const char* name) { check(cuptiActivityDisable(kind), name); }
void enable_kernels() { enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "enable CONCURRENT_KERNEL"); }
void disable_kernels() { disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "disable CONCURRENT_KERNEL"); }
/// The first kernel has `first` blocks, and each later kernel one block more.
void launch(int count, int first, cudaStream_t stream = nullptr) {
  for (int i = 0; i < count; ++i) empty_kernel<<<first + i, 32, 0, stream>>>();
}
/// A kernel's first launch loads the kernel and may wait for the device.
void load_kernels() {
  empty_kernel<<<1, 32>>>();
  busy_kernel<<<1, 1>>>(1);
  wait();
}

constexpr int kLaunches = 100000;
double ns_per_launch() {
  wait();
  const auto begin = Clock::now();
  for (int i = 0; i < kLaunches; ++i) empty_kernel<<<1, 32>>>();
  wait();
  return ms_since(begin) * 1e6 / kLaunches;
}

// All CUDA releases use these callback ids for launches.
constexpr unsigned kRuntimeLaunches[] = {211, 214, 430, 431, 505, 506};
constexpr unsigned kDriverLaunches[] = {307, 442, 652, 653};
#if CUPTI_API_VERSION >= 24
void select_launches(bool runtime, bool driver, bool on) {
  for (const CUpti_CallbackId id : kRuntimeLaunches) {
    if (runtime) cuptiActivityEnableRuntimeApi(id, on ? 1 : 0);
  }
  for (const CUpti_CallbackId id : kDriverLaunches) {
    if (driver) cuptiActivityEnableDriverApi(id, on ? 1 : 0);
  }
}
#endif

}  // namespace
