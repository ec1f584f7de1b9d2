#include <csignal>

#include "fakes/cupti/exports.h"
#include "fakes/environment.h"

using namespace fake::cupti;
using fake::number;

namespace {

/// The ids have no gaps: clients ask cuptiGetCallbackName for consecutive ids.
struct CallbackName {
  std::uint32_t domain, callback_id;
  const char* name;
};
constexpr CallbackName kNames[] = {
#include "fakes/cupti/names.inc"
};

}  // namespace

#define OF_PROCESS(...) \
  START(__VA_ARGS__);   \
  if (const int failure = clients().use(1); failure != kOk) return failure

EXPORT int cuptiGetVersion(std::uint32_t* version) {
  clients().log(__func__);
  if (number("FAKE_CUPTI_RECURSES") && !Clients::can_initialize()) std::raise(SIGSEGV);
  *version = FAKE_CUPTI_VERSION;
  return kOk;
}
EXPORT int cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = clients().process().now();
  return kOk;
}
EXPORT int cuptiGetResultString(int result, const char** text) {
  *text = result == kOk ? "CUPTI_SUCCESS" : "an error of the fake CUPTI";
  return kOk;
}
EXPORT int cuptiGetErrorMessage(int result, const char** text) { return cuptiGetResultString(result, text); }
EXPORT int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t callback_id, const char** name) {
  for (const CallbackName& one : kNames) {
    if (one.domain != domain || one.callback_id != callback_id) continue;
    *name = one.name;
    return kOk;
  }
  return kInvalidParameter;
}
EXPORT int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  OF_PROCESS();
  return clients().process().register_callbacks(request, complete);
}
EXPORT int cuptiActivityRegisterTimestampCallback(Timestamp timestamp) {
  OF_PROCESS();
  return clients().process().register_timestamp(timestamp);
}
EXPORT int cuptiActivitySetAttribute(std::uint32_t attribute, std::size_t* size, void* value) {
  OF_PROCESS(attribute);
  if (!size || !value || attribute > 9) return kInvalidParameter;
  if (attribute == 9) clients().process().per_thread(*static_cast<std::uint8_t*>(value) != 0);
  return kOk;
}
EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  OF_PROCESS(kind);
  return clients().process().enable(kind, true, false);
}
EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) {
  OF_PROCESS(kind);
  return clients().process().enable(kind, true, true);
}
EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  OF_PROCESS(kind);
  return clients().process().enable(kind, false, false);
}
// CUPTI has the next two functions since 12.5. Version scripts hide them in older releases.
EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t callback_id, std::uint8_t on) {
  OF_PROCESS(callback_id, on);
  return clients().process().enable_call(fake::Domain::kRuntime, callback_id, on != 0);
}
EXPORT int cuptiActivityEnableDriverApi(std::uint32_t callback_id, std::uint8_t on) {
  OF_PROCESS(callback_id, on);
  return clients().process().enable_call(fake::Domain::kDriver, callback_id, on != 0);
}
EXPORT int cuptiActivityEnableLatencyTimestamps(std::uint8_t on) {
  OF_PROCESS(on);
  return kOk;
}
EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
  START(flag);
  return clients().flush((flag & 1) != 0);
}
EXPORT int cuptiActivityFlushPeriod(std::uint32_t milliseconds) {
  START(milliseconds);
  return kOk;
}
EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) {
  if (const int failure = clients().use(1); failure != kOk) return failure;
  return next_record(buffer, valid_size, record);
}
EXPORT int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  OF_PROCESS();
  *dropped = clients().process().dropped();
  return kOk;
}
EXPORT int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  if (const int failure = clients().start(__func__); failure != kOk) return failure;
  if (const int failure = clients().use(1); failure != kOk) return failure;
  return clients().process().push_external(kind, id);
}
EXPORT int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
  if (const int failure = clients().start(__func__); failure != kOk) return failure;
  if (const int failure = clients().use(1); failure != kOk) return failure;
  return clients().process().pop_external(kind, last);
}
EXPORT int cuptiSubscribe(void** subscriber, Callback callback, void* user) {
  START();
  const int result = clients().subscribe(subscriber, callback, user, false);
  return result != kOk && FAKE_CUPTI_VERSION < 18 ? kMaximumReached : result;
}
EXPORT int cuptiUnsubscribe(void* subscriber) {
  START();
  return clients().unsubscribe(subscriber);
}
EXPORT int cuptiEnableCallback(std::uint32_t on, void* subscriber, std::uint32_t domain, std::uint32_t callback_id) {
  START(domain, callback_id);
  Client* const client = clients().subscriber(subscriber);
  return client != nullptr ? client->enable_callback(on != 0, domain, callback_id) : kInvalidParameter;
}
EXPORT int cuptiEnableDomain(std::uint32_t on, void* subscriber, std::uint32_t domain) {
  START(domain, on);
  Client* const client = clients().subscriber(subscriber);
  return client != nullptr ? client->enable_domain(on != 0, domain) : kInvalidParameter;
}
EXPORT int cuptiSetThreadIdType(std::uint32_t type) {
  OF_PROCESS(type);
  clients().process().thread_id_type(type);
  return kOk;
}
EXPORT int cuptiFinalize() {
  START();
  return clients().finalize();
}
