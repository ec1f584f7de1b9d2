#include <pthread.h>
#include <unistd.h>

#include <map>

#include "fakes/cupti/client.h"

namespace fake::cupti {

int Client::push_external(std::uint32_t kind, std::uint64_t id) {
  external().stacks[kind].push_back(id);
  return kOk;
}

int Client::pop_external(std::uint32_t kind, std::uint64_t* last) {
  auto& stack = external().stacks[kind];
  if (stack.empty()) return kQueueEmpty;
  if (last) *last = stack.back();
  stack.pop_back();
  return kOk;
}

void Client::enter(CallState& call) {
  if (options_.blocks) calls_lock_.lock_shared();
  if (first_enable != 0 && options_.cost_ns != 0) {
    for (const std::uint64_t until = realtime() + options_.cost_ns; realtime() < until;) continue;
  }
  const bool nested_unwanted = call.outer && !options_.nested;
  call.wanted = 0;
  if (!nested_unwanted && wants_call(*call.info)) call.wanted |= kWantsApi;
  if (wants_callback(*call.info)) {
    call.wanted |= kWantsCallback;
    call_back(call, 0);
  }
  if (call.wanted & kWantsApi) call.begin = now();
}

void Client::exit(CallState& call) {
  if (call.wanted & kWantsApi) {
    const std::uint64_t end = now();
    if (kinds_[kExternalCorrelation]) {
      for (const auto& [kind, stack] : external().stacks) {
        if (stack.empty()) continue;
        write(thread_slot(), ExternalCorrelation{kExternalCorrelation, kind, stack.back(), call.correlation, 0});
      }
    }
    Api api{};
    api.kind = call.info->domain == fake::Domain::kRuntime ? kRuntime : kDriver;
    api.callback_id = call.info->callback_id;
    api.start = call.begin;
    api.end = end;
    api.process = static_cast<std::uint32_t>(getpid());
    api.thread = system_thread_ids_ ? static_cast<std::uint32_t>(gettid()) : static_cast<std::uint32_t>(pthread_self());
    api.correlation = call.correlation;
    api.result = static_cast<std::uint32_t>(call.result);
    write(thread_slot(), api);
  }
  if (call.wanted & kWantsCallback) call_back(call, 1);
  if (options_.blocks) calls_lock_.unlock_shared();
}

External& Client::external() {
  thread_local std::map<const Client*, External> of_client;
  return of_client[this];
}

bool Client::wants_call(const fake::ApiInfo& info) {
  const bool runtime = info.domain == fake::Domain::kRuntime;
  const std::uint32_t kind = runtime ? kRuntime : kDriver;
  if (!kinds_[kind]) return false;
  const std::lock_guard lock(kinds_lock_);
  const Calls& calls = calls_of(kind);
  return calls.all != (calls.exceptions.count(info.callback_id) != 0);
}

bool Client::wants_callback(const fake::ApiInfo& info) {
  if (!subscribed_) return false;
  const std::lock_guard lock(kinds_lock_);
  const auto domain = static_cast<std::uint32_t>(info.domain);
  return domains_.count(domain) != 0 || callbacks_.count({domain, info.callback_id}) != 0;
}

void Client::call_back(CallState& call, std::uint32_t site) {
  const Subscriber subscriber = mine_;
  if (!subscriber.callback || !subscribed_) return;
  std::shared_lock<std::shared_mutex> running(callback_lock_, std::defer_lock);
  if (options_.callbacks_lock) running.lock();
  CallbackData data{};
  data.site = site;
  data.function_name = call.info->name;
  data.parameters = call.parameters;
  data.return_value = &call.result;
  data.symbol = call.symbol;
  data.context_id = 1;
  data.user_data = &call.user_data;
  data.correlation = call.correlation;
  subscriber.callback(subscriber.user, static_cast<std::uint32_t>(call.info->domain), call.info->callback_id, &data);
}

}  // namespace fake::cupti
