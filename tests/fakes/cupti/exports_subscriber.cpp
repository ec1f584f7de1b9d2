// CUPTI 13.3 has all of these functions, 13.2 has some. Version scripts hide the others.
#include "fakes/cupti/exports.h"

using namespace fake::cupti;

#define OF_SUBSCRIBER(...)                                 \
  START(__VA_ARGS__);                                      \
  Client* const client = clients().subscriber(subscriber); \
  if (client == nullptr) return kInvalidParameter;         \
  if (const int failure = clients().use(2); failure != kOk) return failure

namespace {
struct SubscriberParameters {  // CUpti_SubscriberParams
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
  std::uint8_t allow_multiple, padding[7];
};
/// Accepts null and a CUpti_ActivityConfig, which begins with its size.
bool is_config(const void* config) {
  std::size_t size = 0;
  if (config != nullptr) std::memcpy(&size, config, sizeof size);
  return config == nullptr || (size >= sizeof size && size <= 4096);
}
}  // namespace

EXPORT int cuptiSubscribe_v2(void** subscriber, Callback callback, void* user, SubscriberParameters* parameters) {
  START();
  if (parameters != nullptr && parameters->size != sizeof *parameters) return kInvalidParameter;
  return clients().subscribe(subscriber, callback, user, parameters != nullptr && parameters->allow_multiple != 0);
}
EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, RequestOfSubscriber request,
                                             CompleteOfSubscriber complete) {
  OF_SUBSCRIBER();
  if (!kHasSubscribers) clients().process().taken(request, complete);
  return client->register_callbacks_v2(request, complete);
}
EXPORT int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, void* config) {
  OF_SUBSCRIBER(kind);
  return is_config(config) ? client->enable(kind, true, false) : kInvalidParameter;
}
EXPORT int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, void* config) {
  OF_SUBSCRIBER(kind);
  return is_config(config) ? client->enable(kind, true, true) : kInvalidParameter;
}
EXPORT int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, void* config) {
  OF_SUBSCRIBER(kind);
  return is_config(config) ? client->enable(kind, false, false) : kInvalidParameter;
}
EXPORT int cuptiActivityEnableRuntimeApi_v2(void* subscriber, std::uint32_t callback_id, std::uint8_t on) {
  OF_SUBSCRIBER(callback_id, on);
  return client->enable_call(fake::Domain::kRuntime, callback_id, on != 0);
}
EXPORT int cuptiActivityEnableDriverApi_v2(void* subscriber, std::uint32_t callback_id, std::uint8_t on) {
  OF_SUBSCRIBER(callback_id, on);
  return client->enable_call(fake::Domain::kDriver, callback_id, on != 0);
}
EXPORT int cuptiActivityGetNextRecord_v2(void* subscriber, std::uint8_t* buffer, std::size_t valid_size,
                                         std::uint8_t** record) {
  if (clients().subscriber(subscriber) == nullptr) return kInvalidParameter;
  return next_record(buffer, valid_size, record);
}
EXPORT int cuptiActivityGetNumDroppedRecords_v2(void* subscriber, void*, std::uint32_t, std::size_t* dropped) {
  OF_SUBSCRIBER();
  *dropped = client->dropped();
  return kOk;
}
EXPORT int cuptiActivityPushExternalCorrelationId_v2(void* subscriber, std::uint32_t kind, std::uint64_t id) {
  OF_SUBSCRIBER();
  return client->push_external(kind, id);
}
EXPORT int cuptiActivityPopExternalCorrelationId_v2(void* subscriber, std::uint32_t kind, std::uint64_t* last) {
  OF_SUBSCRIBER();
  return client->pop_external(kind, last);
}
