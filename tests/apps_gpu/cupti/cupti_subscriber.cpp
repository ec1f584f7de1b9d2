// Uses the subscriber API of CUPTI 13.2 or 13.3, as JAX does.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "../cuda_api.h"

struct SubscriberParameters {
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
  std::uint8_t allow_multiple, padding[7];
};

extern "C" {
int cuptiSubscribe_v2(void**, void (*)(void*, std::uint32_t, std::uint32_t, const void*), void*, SubscriberParameters*);
int cuptiUnsubscribe(void*);
int cuptiActivityRegisterCallbacks_v2(void*, void (*)(std::uint8_t**, std::size_t*, std::size_t*, void*),
                                      void (*)(std::uint8_t*, std::size_t, std::size_t, void*));
int cuptiActivityEnable_v2(void*, std::uint32_t, void*);
int cuptiActivityDisable_v2(void*, std::uint32_t, void*);
int cuptiActivityFlushAll(std::uint32_t);
int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, std::uint8_t**);
[[gnu::weak]] int cuptiActivityGetNextRecord_v2(void*, std::uint8_t*, std::size_t, std::uint8_t**);  // since 13.3
}

KERNEL(client_kernel)

static std::atomic<long> kernel_records{0};
static void* subscriber = nullptr;

static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* maximum, void*) {
  *size = 1 << 16;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *maximum = 0;
}
static int next(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  if (cuptiActivityGetNextRecord_v2 == nullptr) return cuptiActivityGetNextRecord(buffer, valid, record);
  return cuptiActivityGetNextRecord_v2(subscriber, buffer, valid, record);
}
static void complete(std::uint8_t* buffer, std::size_t, std::size_t valid, void*) {
  std::uint8_t* record = nullptr;
  while (next(buffer, valid, &record) == 0) {
    kernel_records += *reinterpret_cast<std::uint32_t*>(record) == 10;
  }
  std::free(buffer);
}

int main(int count, char** arguments) {
  const int kernels = count > 1 ? std::atoi(arguments[1]) : 300;
  const auto run = [kernels] {
    for (int i = 0; i < kernels / 3; ++i) LAUNCH(client_kernel, 1, 32, nullptr);
    check(cudaDeviceSynchronize());
  };
  run();
  SubscriberParameters parameters{};
  parameters.size = sizeof parameters;
  parameters.allow_multiple = 1;
  int errors = cuptiSubscribe_v2(
                   &subscriber, [](void*, std::uint32_t, std::uint32_t, const void*) {}, nullptr, &parameters) != 0;
  errors += cuptiActivityRegisterCallbacks_v2(subscriber, request, complete) != 0;
  struct {  // CUpti_ActivityConfig, which begins with its size
    std::size_t size = 64;
    std::uint8_t rest[56] = {};
  } config;
  errors += cuptiActivityEnable_v2(subscriber, 10, &config) != 0;
  run();
  errors += cuptiActivityDisable_v2(subscriber, 10, &config) != 0;
  errors += cuptiActivityFlushAll(0) != 0;
  errors += cuptiUnsubscribe(subscriber) != 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run();
  std::printf("errors %d\nkernels %d\nsession_kernels %ld\n", errors, kernels / 3 * 3, kernel_records.load());
  return 0;
}
