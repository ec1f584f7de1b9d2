#include <pthread.h>
#include <unistd.h>

#include "fakes/cupti/client.h"

namespace fake::cupti {

void Client::driver_initialized() {
  if (kinds_[kDevice]) tell_devices(*fake::device_or_null());
}

void Client::synchronized(fake::SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                          std::uint32_t event, std::uint64_t start, std::uint64_t end) {
  if (!kinds_[kSynchronization]) return;
  Synchronization record{};
  record.kind = kSynchronization;
  record.type = static_cast<std::uint32_t>(kind);
  const auto [at, at_realtime] = anchor();
  record.start = device_time(start, at, at_realtime);
  record.end = device_time(end, at, at_realtime);
  record.correlation = correlation;
  record.context = context;
  record.stream = stream;
  record.event = event;
  write(thread_slot(), record);
}

void Client::recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                            std::uint32_t event) {
  if (!kinds_[kCudaEvent]) return;
  CudaEvent record{};
  record.kind = kCudaEvent;
  record.correlation = correlation;
  record.context = context;
  record.stream = stream;
  record.event = event;
  write(thread_slot(), record);
}

void Client::memory(bool allocated, fake::MemoryKind kind, std::uint32_t device, std::uint32_t context,
                    std::uint32_t correlation, const void* address, std::uint64_t bytes) {
  if (!kinds_[kMemory2]) return;
  Memory record{};
  record.kind = kMemory2;
  record.operation = allocated ? 1 : 2;
  record.memory_kind = static_cast<std::uint32_t>(kind);
  record.correlation = correlation;
  record.address = reinterpret_cast<std::uint64_t>(address);
  record.bytes = bytes;
  record.timestamp = now();
  record.process = static_cast<std::uint32_t>(getpid());
  record.device = device;
  record.context = context;
  record.stream = fake::kNoStream;
  write(thread_slot(), record);
}

void Client::first_launch(const char*, std::uint32_t correlation) {
  if (!kinds_[kOverhead]) return;
  const std::uint64_t begin = now();
  overhead(5u << 16, begin, begin + 1, correlation);
}

void Client::created_context(std::uint32_t device, std::uint32_t context) {
  if (!kinds_[kContext]) return;
  Context record{};
  record.kind = kContext;
  record.context = context;
  record.device = device;
  record.api = number("FAKE_CUDA_MPS") != 0 ? 2 : 1;  // CUpti_ActivityComputeApiKind
  record.null_stream = 7;
  record.multiprocessors = 132;
  write(thread_slot(), record);
}

void Client::created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) {
  if (!kinds_[kStream]) return;
  write(thread_slot(), Stream{kStream, context, stream, static_cast<std::uint32_t>(priority), 2, 0});
}

void Client::overhead(std::uint32_t kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
  Overhead record{};
  record.kind = kOverhead;
  record.overhead_kind = kind;
  record.object_kind = 2;  // thread
  record.object[0] = static_cast<std::uint32_t>(getpid());
  record.object[1] = static_cast<std::uint32_t>(pthread_self());
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  write(thread_slot(), record);
}

void Client::tell_devices(fake::Device& device) {
  for (int i = 0; i < device.device_count(); ++i) write(thread_slot(), device_record(i));
}

}  // namespace fake::cupti
