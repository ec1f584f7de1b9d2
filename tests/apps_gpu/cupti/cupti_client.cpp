// cupti_client [kernels] [sessions] [how]: a CUPTI client like torch.profiler.
// Each phase (before, in, between and after the sessions) launches a third of the kernels.
// `how` (pauses are before the last phase):
//   noflush    launches nothing in the session and disables its kinds without a flush
//              (torch.profiler._utils._init_for_cuda_graphs); pauses 1.5 s
//   clock      registers a timestamp callback for every session, as Kineto does; pauses 0.3 s
//   callbacks  only subscribes, and unsubscribes before the last phase; pauses 0.2 s before each phase
//   registers  only subscribes and registers its buffer callbacks; pauses 1.5 s
//   disables   disables kinds that it does not record
//   finalizes  calls cuptiFinalize after its session; pauses 1.5 s
//   profiler   calls cudaProfilerStart before the last phase
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <thread>

#include "../cuda_api.h"

extern "C" {
int cuptiSubscribe(void**, void (*)(void*, std::uint32_t, std::uint32_t, const void*), void*);
int cuptiUnsubscribe(void*);
int cuptiEnableCallback(std::uint32_t, void*, std::uint32_t, std::uint32_t);
int cuptiActivityRegisterCallbacks(void (*)(std::uint8_t**, std::size_t*, std::size_t*),
                                   void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t));
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*)());
int cuptiActivityEnable(std::uint32_t);
int cuptiActivityDisable(std::uint32_t);
int cuptiActivityFlushAll(std::uint32_t);
int cuptiFinalize();
int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, std::uint8_t**);
}

KERNEL(client_kernel)

static std::atomic<long> kernel_records{0}, call_records{0}, callbacks{0};

static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* maximum) {
  *size = 1 << 16;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *maximum = 0;
}
static void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  std::uint8_t* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == 0) {
    const std::uint32_t kind = *reinterpret_cast<std::uint32_t*>(record);
    kernel_records += kind == 10;
    call_records += kind == 5;
  }
  std::free(buffer);
}

static std::uint64_t half_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 2 * (static_cast<std::uint64_t>(now.tv_sec) * 1000000000 + static_cast<std::uint64_t>(now.tv_nsec));
}

int main(int count, char** arguments) {
  const int kernels = count > 1 ? std::atoi(arguments[1]) : 300;
  const int sessions = count > 2 ? std::atoi(arguments[2]) : 1;
  const std::string_view how = count > 3 ? arguments[3] : "";
  const bool flushes = how != "noflush", registers = how != "callbacks" && how != "disables";
  const bool records = registers && how != "registers";
  const auto run = [kernels, how] {
    if (how == "callbacks") std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (int i = 0; i < kernels / 3; ++i) LAUNCH(client_kernel, 1, 32, nullptr);
    check(cudaDeviceSynchronize());
  };
  run();
  void* subscriber = nullptr;
  const int subscribed = cuptiSubscribe(
      &subscriber, [](void*, std::uint32_t, std::uint32_t, const void*) { ++callbacks; }, nullptr);
  int errors = subscribed != 0;
  if (subscribed == 0) errors += cuptiEnableCallback(1, subscriber, 2, 211) != 0;  // cudaLaunchKernel
  if (registers) errors += cuptiActivityRegisterCallbacks(request, complete) != 0;
  for (int session = 0; session < sessions; ++session) {
    if (session > 0) run();
    if (how == "clock") errors += cuptiActivityRegisterTimestampCallback(half_nanoseconds) != 0;
    if (records) {
      errors += cuptiActivityEnable(10) != 0;
      errors += cuptiActivityEnable(5) != 0;
    }
    for (const std::uint32_t kind : {10u, 5u, 1u}) {
      if (how == "disables") errors += cuptiActivityDisable(kind) != 0;
    }
    if (flushes) run();
    if (!records) continue;
    errors += cuptiActivityDisable(10) != 0;
    errors += cuptiActivityDisable(5) != 0;
    if (flushes) errors += cuptiActivityFlushAll(0) != 0;
  }
  if (subscribed == 0) errors += cuptiUnsubscribe(subscriber) != 0;
  if (how == "finalizes") errors += cuptiFinalize() != 0;
  if (!flushes || how == "registers" || how == "finalizes")
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  if (how == "clock") std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (how == "profiler") check(cudaProfilerStart());
  run();
  std::printf("subscribe %d\nerrors %d\nkernels %d\nsession_kernels %ld\nsession_calls %ld\nsession_callbacks %ld\n",
              subscribed, errors, kernels / 3 * 3, kernel_records.load(), call_records.load(), callbacks.load());
  return 0;
}
