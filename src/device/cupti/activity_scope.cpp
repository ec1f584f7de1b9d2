#include "activity_scope.h"

#include <sched.h>

namespace profshim::device {
namespace {

// cuptiSubscribe_v2 requires a callback.
void no_callback(void*, int, std::uint32_t, const void*) {}

}  // namespace

int ActivityScope::open(const BufferCallbacks& callbacks, bool of_process) {
  if (is_shared()) return cupti::kSuccess;
  if (api_.has_subscriber_api() && !of_process) {
    SubscriberParameters parameters{};
    parameters.struct_size = sizeof parameters;
    parameters.name = "profshim";
    parameters.allow_multiple = 1;
    void* subscriber = nullptr;
    if (api_.subscribe_v2(&subscriber, no_callback, nullptr, &parameters) == cupti::kSuccess) {
      const int result =
          api_.register_callbacks_v2(subscriber, callbacks.requested_of_subscriber, callbacks.completed_of_subscriber);
      if (result == cupti::kSuccess) {
        subscriber_.store(subscriber);
        return result;
      }
      api_.unsubscribe(subscriber);
    }
  }
  const int result = api_.register_callbacks(callbacks.requested, callbacks.completed);
  if (result == cupti::kSuccess) of_process_.store(true);
  return result;
}

void ActivityScope::close() {
  void* const subscriber = subscriber_.exchange(nullptr);
  if (subscriber == nullptr) return;
  while (external_calls_.load() != 0) sched_yield();
  api_.unsubscribe(subscriber);
}

int ActivityScope::enable(std::uint32_t kind) const {
  return is_shared() ? api_.enable_v2(subscriber(), kind, nullptr) : api_.enable(kind);
}

int ActivityScope::enable_and_dump(std::uint32_t kind) const {
  if (is_shared()) return api_.enable_and_dump_v2(subscriber(), kind, nullptr);
  return api_.enable_and_dump != nullptr ? api_.enable_and_dump(kind) : cupti::kNotSupported;
}

int ActivityScope::disable(std::uint32_t kind) const {
  return is_shared() ? api_.disable_v2(subscriber(), kind, nullptr) : api_.disable(kind);
}

int ActivityScope::next_record(std::uint8_t* buffer, std::size_t valid, cupti::Record** record) const {
  return is_shared() ? api_.next_record_v2(subscriber(), buffer, valid, record)
                     : api_.next_record(buffer, valid, record);
}

std::size_t ActivityScope::dropped_records() const {
  std::size_t dropped = 0;
  int result = cupti::kNotSupported;
  if (is_shared()) {
    result = api_.dropped_records_v2(subscriber(), nullptr, 0, &dropped);
  } else if (api_.dropped_records != nullptr) {
    result = api_.dropped_records(nullptr, 0, &dropped);
  }
  return result == cupti::kSuccess ? dropped : 0;
}

void ActivityScope::push_external(int kind, std::uint64_t id) {
  external_calls_.fetch_add(1);
  if (void* const subscriber = subscriber_.load()) {
    api_.push_external_v2(subscriber, kind, id);
  } else if (of_process_.load() && api_.push_external != nullptr) {
    api_.push_external(kind, id);
  }
  external_calls_.fetch_sub(1);
}

void ActivityScope::pop_external(int kind) {
  std::uint64_t last = 0;
  external_calls_.fetch_add(1);
  if (void* const subscriber = subscriber_.load()) {
    api_.pop_external_v2(subscriber, kind, &last);
  } else if (of_process_.load() && api_.pop_external != nullptr) {
    api_.pop_external(kind, &last);
  }
  external_calls_.fetch_sub(1);
}

}  // namespace profshim::device
