#pragma once

#include <string>
#include <string_view>

#include "profshim/recorder_control.h"

namespace profshim::test {

/// Stands in for profshim's device thread.
class DeviceEvents {
 public:
  DeviceEvents() : thread_(recorder::device_block()) {}

  static constexpr const char* kB200 =
      R"({"id": 0, "name": "NVIDIA B200", "totalGlobalMem": 191503138816, "computeMajor": 10, "computeMinor": 0, )"
      R"("maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, )"
      R"("sharedMemPerBlock": 49152, "numSms": 148, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, )"
      R"("sharedMemPerMultiprocessor": 233472})";
  static void define_device() {
    recorder::define(spool::DefinitionKind::kDevice, 0, recorder::intern("NVIDIA B200"), recorder::intern(kB200));
  }

  Event call(Ticks begin, Ticks end, std::string_view name, std::uint32_t correlation, std::int32_t tid) {
    Event e = event(HookId::kCudaApi, begin, end);
    e.name = recorder::intern(name);
    e.api = {.correlation = correlation,
             .callback_id = 211,
             .tid = tid,
             .raw_thread = 0xe0001740,
             .is_runtime = !name.starts_with("cu") || name.starts_with("cuda"),
             .is_launch = 1};
    commit(e);
    return e;
  }

  void kernel(Ticks begin, Ticks end, std::string_view name, std::uint32_t correlation, std::uint32_t stream = 7) {
    Event e = event(HookId::kKernel, begin, end);
    e.name = recorder::intern(name);
    e.flags = kContinues;
    e.gpu = {.correlation = correlation, .context = 1, .stream = stream};
    commit(e);
    e.hook = HookId::kContinuation;
    e.flags = 0;
    e.kernel = {.grid = {1776, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 32, .channel_type = kNoByte};
    commit(e);
  }

  void copy(Ticks begin, Ticks end, std::uint32_t correlation, std::uint64_t bytes, std::uint32_t stream = 7) {
    Event e = event(HookId::kMemcpy, begin, end);
    e.gpu = {.correlation = correlation, .kind = 1 | 2 << 4 | 3 << 8, .context = 1, .stream = stream, .bytes = bytes};
    commit(e);
  }

  void other(HookId hook, Ticks begin, Ticks end, const GpuArgs& gpu) {
    Event e = event(hook, begin, end);
    e.gpu = gpu;
    commit(e);
  }

  void sync(Ticks begin, Ticks end, const SyncArgs& args) {
    Event e = event(HookId::kCudaSync, begin, end);
    e.sync = args;
    commit(e);
  }

  void memory(Ticks at, const CudaMemoryArgs& args) {
    Event e = event(HookId::kCudaMemory, at, at);
    e.cuda_memory = args;
    commit(e);
  }

  void overhead(Ticks begin, Ticks end, std::uint16_t kind) {
    Event e = event(HookId::kCudaOverhead, begin, end);
    e.cuda_overhead = {.kind = kind};
    commit(e);
  }

  void commit(const Event& e) { recorder::commit(*thread_, e); }
  static Event event(HookId hook, Ticks begin, Ticks end) {
    Event e;
    e.hook = hook;
    e.begin = begin;
    e.end = end;
    return e;
  }

 private:
  spool::Thread* const thread_;
};

}  // namespace profshim::test
