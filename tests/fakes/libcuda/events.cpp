#include <algorithm>

#include "fakes/libcuda/simulator.h"

namespace fake {

void* Simulator::create_event() {
  const std::lock_guard lock(lock_);
  auto event = std::make_shared<Event>(Event{++events_made_, default_stream()->context});
  events_[event.get()] = event;
  return event.get();
}

int Simulator::destroy_event(void* handle) {
  const std::lock_guard lock(lock_);
  return events_.erase(static_cast<Event*>(handle)) == 1 ? kOk : kInvalidHandle;
}

int Simulator::record_event(void* handle, void* stream_handle) {
  std::uint32_t context = 0, id = 0, event_id = 0;
  {
    const std::lock_guard lock(lock_);
    const auto event = event_of(handle);
    Stream* stream = find(stream_handle);
    if (!event || !stream) return kInvalidHandle;
    event->captured = stream->capture;
    if (stream->capture) return kOk;
    event->pending = true;
    stream->steps.push_back({Step::kRecord, {}, event, ++event->generation});
    advance_all();
    wake_progress();
    context = stream->context;
    id = stream->id;
    event_id = event->id;
  }
  if (Observer* observer = observer_) observer->recorded_event(correlation(), context, id, event_id);
  return kOk;
}

int Simulator::wait_event(void* stream_handle, void* handle) {
  const std::uint64_t begin = realtime_ns();
  std::uint32_t context = 0, id = 0, event_id = 0;
  {
    const std::lock_guard lock(lock_);
    const auto event = event_of(handle);
    Stream* stream = find(stream_handle);
    if (!event || !stream) return kInvalidHandle;
    if (event->captured) {
      stream->capture = event->captured;  // joins the capture
      return kOk;
    }
    stream->steps.push_back({Step::kWait, {}, event, event->generation});
    advance_all();
    wake_progress();
    context = stream->context;
    id = stream->id;
    event_id = event->id;
  }
  tell_synchronized(SyncKind::kStreamWaitsForEvent, context, id, event_id, begin);
  return kOk;
}

int Simulator::synchronize_event(void* handle) {
  const std::uint64_t begin = realtime_ns();
  std::uint32_t id = 0, context = 0;
  for (;;) {
    std::uint64_t until = 0;
    {
      const std::lock_guard lock(lock_);
      const auto event = event_of(handle);
      if (!event) return kInvalidHandle;
      id = event->id;
      context = event->context;
      advance_all();
      if (!event->pending) until = std::max<std::uint64_t>(event->time, 1);
    }
    if (until != 0) {
      wait_until(until);
      break;
    }
    pause_ns(20000);
  }
  tell_synchronized(SyncKind::kEvent, context, kNoStream, id, begin);
  return kOk;
}

int Simulator::query_event(void* handle) {
  const std::lock_guard lock(lock_);
  const auto event = event_of(handle);
  if (!event) return kInvalidHandle;
  advance_all();
  return !event->pending && event->time <= realtime_ns() ? kOk : kNotReady;
}

int Simulator::elapsed(void* from, void* to, float* milliseconds) {
  const std::lock_guard lock(lock_);
  const auto begin = event_of(from), end = event_of(to);
  if (!begin || !end || begin->generation == 0 || end->generation == 0) return kInvalidHandle;
  if (begin->pending || end->pending || end->time > realtime_ns()) return kNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(static_cast<std::int64_t>(end->time - begin->time)) / 1e6);
  return kOk;
}

std::shared_ptr<Event> Simulator::event_of(void* handle) {
  const auto found = events_.find(static_cast<Event*>(handle));
  return found == events_.end() ? nullptr : found->second;
}

}  // namespace fake
