// A CUDA program without calls to profshim, for scripts/gpu_check.sh. Each step makes a known number of launches, which
// the program prints. Steps are NVTX ranges "step N". It uses no managed memory.
//   gpu_job MODE STEPS [A [B]]
//     mixed STEPS K       K kernels on each of two streams, three copies, a memset
//     late STEPS US       one kernel of US microseconds; the host waits only at the end of the program
//     graphs STEPS N      N launches of a graph of five kernels and a memset
//     driver STEPS K      K launches by cuLaunchKernel
//     busy STEPS US       one kernel of US microseconds, which measures its duration
//     launches STEPS K    K empty kernels
//     bound STEPS K US    K kernels of US microseconds: the host waits for the GPU
//     profiler STEPS K    K kernels; cudaProfilerStart before step 2, cudaProfilerStop after step 3
//     adam STEPS K        four micro-batches of K kernels, then three kernels of an optimizer; no NVTX range
//     allocations STEPS K K allocations and releases of device memory
//     exhaust STEPS       an allocation of 64 TiB in step 4, and its error; prints "at_error traces N pages N", the files
//                         below $GPU_JOB_FOLDER at that time
//     ahead STEPS K US D  K kernels of US microseconds; the host runs D steps ahead of the device, without end if D = 0
// Prints
//   per_step NAME COUNT        NAME: a kernel, or memcpy, memset, graph, allocation, release
//   step_ns STEP NANOSECONDS   from the end of nvtxRangePush to the begin of nvtxRangePop
//   push_ns STEP NANOSECONDS   nvtxRangePush of the step: the library opens and closes windows in it
//   begin_ns STEP NANOSECONDS  begin of that nvtxRangePush, by CLOCK_REALTIME
//   measured_ns NANOSECONDS    busy: length of its last kernel
//   rss_kib KIBIBYTES          peak memory of the process
// The variable GPU_JOB_STEP_MS sets the minimum length of a step. A CUDA error ends the program with status 1.
//
// nvcc builds this file for a GPU, g++ (with -I tests) for the simulated GPU of tests/fakes.
#ifdef __CUDACC__
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#else
#include "apps_gpu/cuda_api.h"
#endif
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                            \
  do {                                                                                         \
    const cudaError_t error = (call);                                                          \
    if (error != cudaSuccess) {                                                                \
      std::fprintf(stderr, "gpu_job: %s: %s\n", #call, cudaGetErrorString(error));             \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (0)

#ifdef __CUDACC__

#define RUN(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
extern "C" {
__global__ void alpha_kernel(float* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * 2 + 1;
}
__global__ void beta_kernel(float* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * 3 - 1;
}
__global__ void empty_kernel() {}
__global__ void fused_adam_kernel(float* data, int part) { data[threadIdx.x + part * 32] += 1; }
/// Runs for `nanoseconds` by the device's clock and writes the time that it took into `measured`.
__global__ void busy_kernel(unsigned long long nanoseconds, unsigned long long* measured) {
  unsigned long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
  *measured = now - begin;
}
}

#else

// A simulated kernel has a name and a length, no arguments and no effect.
#define RUN(kernel, grid, block, stream, ...) LAUNCH(kernel, grid, block, stream)
KERNEL(alpha_kernel)
KERNEL(beta_kernel)
KERNEL(empty_kernel)
KERNEL(fused_adam_kernel)
KERNEL(busy_kernel)
using CUfunction = struct CUfunc_st*;
enum { CUDA_SUCCESS = 0 };
extern "C" {
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(CUfunction*, void*, const char*);
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                   void**, void**);
}

#endif

namespace {

constexpr int kCount = 1 << 16;
float* device_data = nullptr;
float* host_data = nullptr;
unsigned long long* measured = nullptr;
cudaStream_t streams[2];

void set_up() {
  CHECK(cudaMalloc(reinterpret_cast<void**>(&device_data), 2 * kCount * sizeof(float)));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&measured), sizeof *measured));
  CHECK(cudaMallocHost(reinterpret_cast<void**>(&host_data), kCount * sizeof(float)));
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
}

void say(const char* name, long count) { std::printf("per_step %s %ld\n", name, count); }

void say_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, 6, "VmHWM:") == 0) std::printf("rss_kib %ld\n", std::atol(line.c_str() + 6));
  }
}

std::string range_of(long step) { return "step " + std::to_string(step); }

template <class Duration>
void say_time(const char* name, long step, Duration length) {
  std::printf("%s %ld %lld\n", name, step,
              static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(length).count()));
}

/// Calls `work` for each step inside an NVTX range and measures its time.
template <class Work>
void run_steps(long steps, const Work& work) {
  const char* const least_ms = std::getenv("GPU_JOB_STEP_MS");
  const std::chrono::milliseconds least(least_ms != nullptr ? std::atol(least_ms) : 0);
  for (long step = 0; step < steps; ++step) {
    const auto at = std::chrono::system_clock::now();
    const auto before = std::chrono::steady_clock::now();
    nvtxRangePushA(range_of(step).c_str());
    const auto begin = std::chrono::steady_clock::now();
    work(step);
    const auto end = std::chrono::steady_clock::now();
    nvtxRangePop();
    say_time("step_ns", step, end - begin);
    say_time("push_ns", step, begin - before);
    say_time("begin_ns", step, at.time_since_epoch());
    std::this_thread::sleep_until(before + least);
  }
}

void run_busy(long us) {
  RUN(busy_kernel, 1, 1, streams[0], us * 1000ull, measured);
#ifndef __CUDACC__
  *measured = us * 1000ull;
#endif
}

void mixed(long steps, long k) {
  say("alpha_kernel", k);
  say("beta_kernel", k);
  say("memcpy", 3);
  say("memset", 1);
  run_steps(steps, [k](long) {
    constexpr std::size_t kBytes = kCount * sizeof(float);
    CHECK(cudaMemsetAsync(device_data, 0, kBytes, streams[0]));
    CHECK(cudaMemcpyAsync(device_data, host_data, kBytes, cudaMemcpyHostToDevice, streams[0]));
    for (long i = 0; i < k; ++i) {
      RUN(alpha_kernel, kCount / 256, 256, streams[0], device_data, kCount);
      RUN(beta_kernel, kCount / 256, 256, streams[1], device_data + kCount, kCount);
    }
    CHECK(cudaMemcpyAsync(device_data + kCount, device_data, kBytes / 2, cudaMemcpyDeviceToDevice, streams[0]));
    CHECK(cudaMemcpyAsync(host_data, device_data, kBytes, cudaMemcpyDeviceToHost, streams[0]));
    for (cudaStream_t stream : streams) CHECK(cudaStreamSynchronize(stream));
  });
}

void late(long steps, long us) {
  say("busy_kernel", 1);
  run_steps(steps, [us](long) { run_busy(us); });
}

void graphs(long steps, long launches) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(device_data, 0, 4096, streams[0]));
  for (int i = 0; i < 5; ++i) RUN(alpha_kernel, 4, 256, streams[0], device_data, 1024);
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  say("alpha_kernel", 5 * launches);
  say("memset", launches);
  say("graph", launches);
  run_steps(steps, [&](long) {
    for (long i = 0; i < launches; ++i) CHECK(cudaGraphLaunch(executable, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
  });
}

void driver(long steps, long k) {
  CUfunction function = nullptr;
#ifdef __CUDACC__
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&beta_kernel)));
#else
  void* module = nullptr;
  cuModuleLoadData(&module, nullptr);
  cuModuleGetFunction(&function, module, "beta_kernel");
#endif
  say("beta_kernel", k);
  run_steps(steps, [&](long) {
    int count = kCount;
    void* arguments[] = {&device_data, &count};
    for (long i = 0; i < k; ++i) {
      if (cuLaunchKernel(function, kCount / 256, 1, 1, 256, 1, 1, 0, streams[0], arguments, nullptr) != CUDA_SUCCESS) {
        std::fprintf(stderr, "gpu_job: cuLaunchKernel failed\n");
        std::exit(1);
      }
    }
    CHECK(cudaStreamSynchronize(streams[0]));
  });
}

void busy(long steps, long us) {
  say("busy_kernel", 1);
  run_steps(steps, [us](long) {
    run_busy(us);
    CHECK(cudaStreamSynchronize(streams[0]));
  });
  unsigned long long length = 0;
  CHECK(cudaMemcpy(&length, measured, sizeof length, cudaMemcpyDeviceToHost));
  std::printf("measured_ns %llu\n", length);
}

void launches(long steps, long k) {
  say("empty_kernel", k);
  run_steps(steps, [k](long) {
    for (long i = 0; i < k; ++i) RUN(empty_kernel, 1, 32, streams[0]);
    CHECK(cudaStreamSynchronize(streams[0]));
  });
}

void bound(long steps, long k, long us) {
  say("busy_kernel", k);
  run_steps(steps, [k, us](long) {
    for (long i = 0; i < k; ++i) run_busy(us);
    CHECK(cudaStreamSynchronize(streams[0]));
  });
}

void profiler(long steps, long k) {
  say("alpha_kernel", 2 * k);  // the library's step: from Start to Stop, two iterations
  run_steps(steps, [k](long step) {
    if (step == 2) CHECK(cudaProfilerStart());
    for (long i = 0; i < k; ++i) RUN(alpha_kernel, 4, 256, streams[0], device_data, 1024);
    CHECK(cudaStreamSynchronize(streams[0]));
    if (step == 3) CHECK(cudaProfilerStop());
  });
}

void adam(long steps, long k) {
  say("alpha_kernel", 4 * k);
  say("fused_adam_kernel", 3);
  for (long step = 0; step < steps; ++step) {
    for (long i = 0; i < 4 * k; ++i) RUN(alpha_kernel, 4, 256, streams[0], device_data, 1024);
    for (int part = 0; part < 3; ++part) RUN(fused_adam_kernel, 1, 32, streams[0], device_data, part);
    CHECK(cudaStreamSynchronize(streams[0]));
  }
}

void allocations(long steps, long k) {
  say("allocation", k);
  say("release", k);
  std::vector<void*> blocks(static_cast<std::size_t>(k));
  run_steps(steps, [&blocks](long) {
    for (void*& block : blocks) CHECK(cudaMalloc(&block, 1 << 20));
    for (void* const block : blocks) CHECK(cudaFree(block));
  });
}

long files_that_end(const std::string& ending) {
  const char* const folder = std::getenv("GPU_JOB_FOLDER");
  long count = 0;
  if (folder == nullptr || !std::filesystem::exists(folder)) return 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    count += name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
  }
  return count;
}

void exhaust(long steps) {
  run_steps(steps, [](long step) {
    run_busy(1000);
    CHECK(cudaStreamSynchronize(streams[0]));
    if (step != 4) return;
    void* block = nullptr;
    if (cudaMalloc(&block, std::size_t{1} << 46) == cudaSuccess) std::exit(1);
    std::printf("at_error traces %ld pages %ld\n", files_that_end(".pt.trace.json"), files_that_end(".memory.html"));
    (void)cudaGetLastError();
  });
}

void ahead(long steps, long k, long us, long depth) {
  say("busy_kernel", k);
  std::vector<cudaEvent_t> ends(static_cast<std::size_t>(steps));
  for (cudaEvent_t& end : ends) CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
  run_steps(steps, [&](long step) {
    for (long i = 0; i < k; ++i) run_busy(us);
    CHECK(cudaEventRecord(ends[static_cast<std::size_t>(step)], streams[0]));
    if (depth > 0 && step >= depth) CHECK(cudaEventSynchronize(ends[static_cast<std::size_t>(step - depth)]));
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const long steps = argc > 2 ? std::atol(argv[2]) : 0;
  const long a = argc > 3 ? std::atol(argv[3]) : 1;
  const long b = argc > 4 ? std::atol(argv[4]) : 1;
  const long c = argc > 5 ? std::atol(argv[5]) : 0;
#ifndef __CUDACC__
  const long us = mode == "late" || mode == "busy" ? a : b;
  if (mode == "exhaust") setenv("FAKE_CUDA_OUT_OF_MEMORY_AT", "3", 0);  // set_up() makes two
  setenv("FAKE_CUDA_KERNELS", ("busy_kernel=" + std::to_string(us * 1000)).c_str(), 0);
#endif
  set_up();
  if (mode == "mixed") {
    mixed(steps, a);
  } else if (mode == "late") {
    late(steps, a);
  } else if (mode == "graphs") {
    graphs(steps, a);
  } else if (mode == "driver") {
    driver(steps, a);
  } else if (mode == "busy") {
    busy(steps, a);
  } else if (mode == "launches") {
    launches(steps, a);
  } else if (mode == "bound") {
    bound(steps, a, b);
  } else if (mode == "profiler") {
    profiler(steps, a);
  } else if (mode == "adam") {
    adam(steps, a);
  } else if (mode == "allocations") {
    allocations(steps, a);
  } else if (mode == "exhaust") {
    exhaust(steps);
  } else if (mode == "ahead") {
    ahead(steps, a, b, c);
  } else {
    std::fprintf(stderr, "gpu_job: no such mode: \"%s\"\n", mode.c_str());
    return 2;
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGetLastError());
  say_memory();
  return 0;
}
