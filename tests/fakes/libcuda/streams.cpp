#include <algorithm>

#include "fakes/libcuda/simulator.h"

namespace fake {

void* Simulator::create_stream(int priority) {
  const std::lock_guard lock(lock_);
  const Stream* base = default_stream();
  auto* stream = new Stream{next_streams_[base->context]++, base->device, base->context, priority};
  streams_.insert(stream);
  if (Observer* observer = observer_) observer->created_stream(stream->context, stream->id, priority);
  return stream;
}

int Simulator::destroy_stream(void* handle) {
  synchronize_quietly(handle);
  const std::lock_guard lock(lock_);
  Stream* stream = find(handle);
  if (!stream || defaults_.count(stream->context) == 0 || defaults_[stream->context] == stream) return kInvalidHandle;
  streams_.erase(stream);
  delete stream;
  return kOk;
}

int Simulator::stream_id(void* handle, std::uint32_t* id) {
  const std::lock_guard lock(lock_);
  const Stream* stream = find(handle);
  if (!stream) return kInvalidHandle;
  *id = stream->id;
  return kOk;
}

int Simulator::stream_priority(void* handle, int* priority) {
  const std::lock_guard lock(lock_);
  const Stream* stream = find(handle);
  if (!stream) return kInvalidHandle;
  *priority = stream->priority;
  return kOk;
}

int Simulator::synchronize_stream(void* handle) {
  const std::uint64_t begin = realtime_ns();
  Stream copy;
  {
    const std::lock_guard lock(lock_);
    const Stream* stream = find(handle);
    if (!stream) return kInvalidHandle;
    if (stream->capture) return kCaptureUnsupported;
    copy.id = stream->id;
    copy.context = stream->context;
  }
  if (const int result = synchronize_quietly(handle); result != kOk) return result;
  tell_synchronized(SyncKind::kStream, copy.context, copy.id, 0, begin);
  return kOk;
}

int Simulator::synchronize_device() {
  const std::uint64_t begin = realtime_ns();
  std::uint32_t context = 0;
  for (;;) {
    std::uint64_t until = 0;
    bool waits = false;
    {
      const std::lock_guard lock(lock_);
      context = default_stream()->context;
      advance_all();
      for (const Stream* stream : streams_) {
        if (stream->context != context) continue;
        waits = waits || !stream->steps.empty();
        until = std::max(until, stream->busy_until);
      }
    }
    if (!waits) {
      wait_until(until);
      break;
    }
    pause_ns(20000);
  }
  tell_synchronized(SyncKind::kContext, context, kNoStream, 0, begin);
  return kOk;
}

void Simulator::wait_until_idle() {
  for (;;) {
    bool busy = false;
    {
      const std::lock_guard lock(lock_);
      advance_all();
      for (const Stream* stream : streams_) busy |= !stream->steps.empty() || stream->busy_until > realtime_ns();
    }
    if (!busy) return;
    pause_ns(100'000);
  }
}

int Simulator::query_stream(void* handle) {
  const std::lock_guard lock(lock_);
  Stream* stream = find(handle);
  if (!stream) return kInvalidHandle;
  advance_all();
  return stream->steps.empty() && stream->busy_until <= realtime_ns() ? kOk : kNotReady;
}

Stream* Simulator::find(void* handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return default_stream();
  auto* stream = static_cast<Stream*>(handle);
  return streams_.count(stream) ? stream : nullptr;
}

int Simulator::synchronize_quietly(void* handle) {
  for (;;) {
    std::uint64_t until = 0;
    bool waits = false;
    {
      const std::lock_guard lock(lock_);
      Stream* stream = find(handle);
      if (!stream) return kInvalidHandle;
      advance_all();
      waits = !stream->steps.empty();
      until = stream->busy_until;
    }
    if (!waits) {
      wait_until(until);
      return kOk;
    }
    pause_ns(20000);
  }
}

void Simulator::tell_synchronized(SyncKind kind, std::uint32_t context, std::uint32_t stream, std::uint32_t event,
                                  std::uint64_t begin) {
  if (Observer* observer = observer_)
    observer->synchronized(kind, correlation(), context, stream, event, begin, realtime_ns());
}

}  // namespace fake
