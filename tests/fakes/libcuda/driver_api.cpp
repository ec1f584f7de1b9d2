// cuModuleGetFunction finds any name, since no code is loaded.
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fakes/libcuda/device.h"

using fake::ApiCall;
using fake::Work;
using fake::WorkKind;

extern "C" fake::Device* fake_cuda_device();

namespace {

struct Function {
  std::string name;
};

struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

/// Spins on one CPU with nine other threads until `until`.
void share_cpu(std::chrono::steady_clock::time_point until) {
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);  // the threads inherit it
  const auto spin = [until] {
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  std::vector<std::thread> others;
  for (int i = 0; i < 9; ++i) others.emplace_back(spin);
  spin();
  for (std::thread& other : others) other.join();
  sched_setaffinity(0, sizeof before, &before);
}

void delay_this_thread() {
  usleep(static_cast<unsigned>(fake::number("FAKE_CUDA_THREAD_INIT_MS")) * 1000);
  const std::chrono::milliseconds busy(fake::number("FAKE_CUDA_THREAD_BUSY_MS"));
  if (busy.count() > 0) share_cpu(std::chrono::steady_clock::now() + busy);
}

std::mutex functions_lock;

void* function_named(const char* name) {
  // Never destroyed: records refer to kernel names until exit.
  static auto& functions = *new std::map<std::string, Function>;
  const std::lock_guard lock(functions_lock);
  return &functions.try_emplace(name, Function{name}).first->second;
}

int launch(void* function, const unsigned* grid, const unsigned* block, unsigned shared_bytes, void* stream) {
  Work work;
  work.name = static_cast<Function*>(function)->name.c_str();
  work.grid = {grid[0], grid[1], grid[2]};
  work.block = {block[0], block[1], block[2]};
  work.shared_bytes = shared_bytes;
  return fake_cuda_device()->submit(stream, std::move(work));
}

int copy(void* to, const void* from, std::size_t bytes, fake::CopyKind kind, void* stream, bool is_async) {
  fake::Device& device = *fake_cuda_device();
  std::memmove(to, from, bytes);
  Work work;
  work.kind = WorkKind::kCopy;
  work.copy = kind;
  work.bytes = bytes;
  work.is_async = is_async;
  work.source = device.memory_kind(from);
  work.target = device.memory_kind(to);
  const int result = device.submit(stream, std::move(work));
  return result == fake::kOk && !is_async ? device.synchronize_stream(stream) : result;
}

int set(void* to, unsigned value, std::size_t bytes, void* stream) {
  fake::Device& device = *fake_cuda_device();
  std::memset(to, static_cast<int>(value), bytes);
  Work work;
  work.kind = WorkKind::kSet;
  work.value = value;
  work.bytes = bytes;
  work.target = device.memory_kind(to);
  return device.submit(stream, std::move(work));
}

// CUDA_VISIBLE_DEVICES lists the GPUs of the machine that become devices 0, 1, ... (CUDA C++ Programming Guide, "CUDA
// Environment Variables"). Only lists of numbers; FAKE_CUDA_DEVICES has their count.
int physical_device(int ordinal) {
  std::string list = fake::text("CUDA_VISIBLE_DEVICES");
  if (list.empty()) return ordinal;
  for (int i = 0; i < ordinal; ++i) list.erase(0, list.find(',') + 1);
  return std::atoi(list.c_str());
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL(name, callback_id, ...)                                               \
  fake::Device& device = *fake_cuda_device();                                      \
  static constexpr fake::ApiInfo kInfo{fake::Domain::kDriver, callback_id, #name}; \
  ApiCall call(device, kInfo __VA_OPT__(, ) __VA_ARGS__)

EXPORT int cuInit(unsigned) {
  if (gettid() != getpid()) delay_this_thread();
  const int result = fake_cuda_device()->init();
  CALL(cuInit, 1);
  return call.returns(result);
}
EXPORT int cuDriverGetVersion(int* version) {
  CALL(cuDriverGetVersion, 2);
  *version = device.driver_version();
  return call.returns(fake::kOk);
}
EXPORT int cuDeviceGet(int* handle, int ordinal) {
  CALL(cuDeviceGet, 3);
  if (ordinal < 0 || ordinal >= device.device_count()) return call.returns(fake::kInvalidDevice);
  *handle = ordinal;
  return call.returns(fake::kOk);
}
EXPORT int cuDeviceGetCount(int* count) {
  CALL(cuDeviceGetCount, 4);
  if (!device.is_up()) return call.returns(fake::kNotInitialized);
  *count = device.device_count();
  return call.returns(fake::kOk);
}
EXPORT int cuDeviceGetName(char* name, int size, int) {
  CALL(cuDeviceGetName, 5);
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return call.returns(fake::kOk);
}
// No CUPTI records of the next two: their callback ids are not in the records that the fakes were made from.
EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int ordinal) {
  if (ordinal < 0 || ordinal >= fake_cuda_device()->device_count()) return fake::kInvalidDevice;
  std::memset(uuid, 0, 16);
  uuid[0] = static_cast<unsigned char>(physical_device(ordinal) + 1);
  return fake::kOk;
}
EXPORT int cuDeviceGetPCIBusId(char* text, int length, int ordinal) {
  if (ordinal < 0 || ordinal >= fake_cuda_device()->device_count()) return fake::kInvalidDevice;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", physical_device(ordinal) + 1);
  return fake::kOk;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int ordinal) {
  CALL(cuDevicePrimaryCtxRetain, 386);
  device.make_first_context();
  device.set_device(ordinal);
  *context = device.context();
  return call.returns(fake::kOk);
}
EXPORT int cuDevicePrimaryCtxGetState(int ordinal, unsigned* flags, int* active) {
  CALL(cuDevicePrimaryCtxGetState, 392);
  *flags = 0;
  *active = device.has_primary_context(ordinal) ? 1 : 0;
  return call.returns(fake::kOk);
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  CALL(cuDevicePrimaryCtxRelease_v2, 544);
  return call.returns(fake::kOk);
}
EXPORT int cuCtxCreate_v2(void** context, unsigned, int ordinal) {
  CALL(cuCtxCreate_v2, 235);
  device.make_first_context();
  *context = device.create_context(ordinal);
  return call.returns(*context != nullptr ? fake::kOk : fake::kInvalidDevice);
}
EXPORT int cuCtxDestroy_v2(void* context) {
  CALL(cuCtxDestroy_v2, 322);
  return call.returns(device.destroy_context(context));
}
EXPORT int cuCtxSetCurrent(void* context) {
  CALL(cuCtxSetCurrent, 303);
  return call.returns(device.set_context(context));
}
EXPORT int cuCtxGetCurrent(void** context) {
  CALL(cuCtxGetCurrent, 304);
  *context = device.context();
  return call.returns(fake::kOk);
}
EXPORT int cuCtxGetDevice(int* ordinal) {
  CALL(cuCtxGetDevice, 16);
  *ordinal = device.current_device();
  return call.returns(fake::kOk);
}
EXPORT int cuCtxSynchronize() {
  CALL(cuCtxSynchronize, 17);
  return call.returns(device.synchronize_device());
}
EXPORT int cuModuleLoadData(void** module, const void*) {
  CALL(cuModuleLoadData, 19);
  static char any_module;
  *module = &any_module;
  return call.returns(fake::kOk);
}
EXPORT int cuModuleUnload(void*) {
  CALL(cuModuleUnload, 22);
  return call.returns(fake::kOk);
}
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
  CALL(cuModuleGetFunction, 23);
  *function = function_named(name);
  return call.returns(fake::kOk);
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared_bytes, void* stream, void**, void**) {
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  CALL(cuLaunchKernel, 307, grid, static_cast<Function*>(function)->name.c_str());
  return call.returns(launch(function, grid, block, shared_bytes, stream));
}
EXPORT int cuLaunchKernelEx(const LaunchConfig* config, void* function, void**, void**) {
  CALL(cuLaunchKernelEx, 652, config, static_cast<Function*>(function)->name.c_str());
  return call.returns(launch(function, config->grid, config->block, config->shared_bytes, config->stream));
}
EXPORT int cuLaunchKernel_ptsz(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared_bytes, void* stream, void**, void**) {
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  CALL(cuLaunchKernel_ptsz, 442, grid, static_cast<Function*>(function)->name.c_str());
  return call.returns(launch(function, grid, block, shared_bytes, stream));
}
EXPORT int cuLaunchKernelEx_ptsz(const LaunchConfig* config, void* function, void**, void**) {
  CALL(cuLaunchKernelEx_ptsz, 653, config, static_cast<Function*>(function)->name.c_str());
  return call.returns(launch(function, config->grid, config->block, config->shared_bytes, config->stream));
}
EXPORT int cuStreamCreate(void** stream, unsigned) {
  CALL(cuStreamCreate, 124);
  *stream = device.create_stream(0);
  return call.returns(fake::kOk);
}
EXPORT int cuStreamDestroy_v2(void* stream) {
  CALL(cuStreamDestroy_v2, 326);
  return call.returns(device.destroy_stream(stream));
}
EXPORT int cuStreamSynchronize(void* stream) {
  CALL(cuStreamSynchronize, 126);
  return call.returns(device.synchronize_stream(stream));
}
EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  CALL(cuStreamWaitEvent, 295);
  return call.returns(device.wait_event(stream, event));
}
EXPORT int cuEventCreate(void** event, unsigned) {
  CALL(cuEventCreate, 118);
  *event = device.create_event();
  return call.returns(fake::kOk);
}
EXPORT int cuEventRecord(void* event, void* stream) {
  CALL(cuEventRecord, 119);
  return call.returns(device.record_event(event, stream));
}
EXPORT int cuEventSynchronize(void* event) {
  CALL(cuEventSynchronize, 121);
  return call.returns(device.synchronize_event(event));
}
EXPORT int cuEventDestroy_v2(void* event) {
  CALL(cuEventDestroy_v2, 325);
  return call.returns(device.destroy_event(event));
}
EXPORT int cuMemAlloc_v2(void** address, std::size_t bytes) {
  CALL(cuMemAlloc_v2, 243);
  *address = device.allocate(bytes, fake::MemoryKind::kDevice);
  return call.returns(*address ? fake::kOk : fake::kOutOfMemory);
}
EXPORT int cuMemFree_v2(void* address) {
  CALL(cuMemFree_v2, 245);
  return call.returns(device.release(address));
}
EXPORT int cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
  CALL(cuMemcpyHtoD_v2, 276);
  return call.returns(copy(to, from, bytes, fake::CopyKind::kToDevice, nullptr, false));
}
EXPORT int cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
  CALL(cuMemcpyDtoH_v2, 278);
  return call.returns(copy(to, from, bytes, fake::CopyKind::kToHost, nullptr, false));
}
EXPORT int cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes, void* stream) {
  CALL(cuMemcpyHtoDAsync_v2, 277);
  return call.returns(copy(to, from, bytes, fake::CopyKind::kToDevice, stream, true));
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes, void* stream) {
  CALL(cuMemcpyDtoHAsync_v2, 279);
  return call.returns(copy(to, from, bytes, fake::CopyKind::kToHost, stream, true));
}
EXPORT int cuMemsetD8Async(void* to, unsigned char value, std::size_t bytes, void* stream) {
  CALL(cuMemsetD8Async, 216);
  return call.returns(set(to, value, bytes, stream));
}
EXPORT int cuProfilerStart() {
  CALL(cuProfilerStart, 308);
  return call.returns(fake::kOk);
}
EXPORT int cuProfilerStop() {
  CALL(cuProfilerStop, 309);
  return call.returns(fake::kOk);
}
EXPORT int cuGetErrorName(int error, const char** text) {
  *text = error == fake::kOk         ? "CUDA_SUCCESS"
          : error == fake::kNoDevice ? "CUDA_ERROR_NO_DEVICE"
                                     : "CUDA_ERROR_UNKNOWN";
  return fake::kOk;
}
EXPORT int cuGetErrorString(int error, const char** text) {
  *text = error == fake::kOk ? "no error" : "an error of the fake driver";
  return fake::kOk;
}
