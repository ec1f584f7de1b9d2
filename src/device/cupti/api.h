#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profshim/cupti_subscriber.h"
#include "records.h"

namespace profshim::device {

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                 std::size_t valid_size);
/// `data`: CUpti_CallbackData.
using ApiCallback = void (*)(void* user, int domain, std::uint32_t callback_id, const void* data);
using TimestampCallback = std::uint64_t (*)();

// Since CUPTI 13.3.
using SubscriberBufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*);
using SubscriberBufferCompleted = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid_size, void*);
using profshim::cupti::SubscriberParameters;

// member | symbol | parameters. All functions return a CUptiResult.
#define PROFSHIM_CUPTI_FUNCTIONS(ROW)                                                                          \
  ROW(get_version, cuptiGetVersion, std::uint32_t* version)                                                    \
  ROW(result_string, cuptiGetResultString, int result, const char** text)                                      \
  ROW(callback_name, cuptiGetCallbackName, int domain, std::uint32_t callback_id, const char** name)           \
  ROW(register_callbacks, cuptiActivityRegisterCallbacks, BufferRequested requested, BufferCompleted done)     \
  ROW(register_timestamps, cuptiActivityRegisterTimestampCallback, TimestampCallback callback)                 \
  ROW(enable, cuptiActivityEnable, std::uint32_t kind)                                                         \
  ROW(enable_and_dump, cuptiActivityEnableAndDump, std::uint32_t kind)                                         \
  ROW(disable, cuptiActivityDisable, std::uint32_t kind)                                                       \
  ROW(flush_all, cuptiActivityFlushAll, std::uint32_t flag)                                                    \
  ROW(next_record, cuptiActivityGetNextRecord, std::uint8_t* buffer, std::size_t valid, cupti::Record** next)  \
  ROW(dropped_records, cuptiActivityGetNumDroppedRecords, void* context, std::uint32_t stream, std::size_t* n) \
  ROW(push_external, cuptiActivityPushExternalCorrelationId, int kind, std::uint64_t id)                       \
  ROW(pop_external, cuptiActivityPopExternalCorrelationId, int kind, std::uint64_t* last)                      \
  ROW(subscribe, cuptiSubscribe, void** subscriber, ApiCallback callback, void* user)                          \
  ROW(unsubscribe, cuptiUnsubscribe, void* subscriber)                                                         \
  ROW(enable_callback, cuptiEnableCallback, std::uint32_t on, void* subscriber, int domain, std::uint32_t id)  \
  PROFSHIM_CUPTI_SUBSCRIBER_FUNCTIONS(ROW)

#define PROFSHIM_CUPTI_SUBSCRIBER_FUNCTIONS(ROW)                                                                       \
  ROW(subscribe_v2, cuptiSubscribe_v2, void** subscriber, ApiCallback callback, void* user, SubscriberParameters* p)   \
  ROW(register_callbacks_v2, cuptiActivityRegisterCallbacks_v2, void* subscriber, SubscriberBufferRequested,           \
      SubscriberBufferCompleted)                                                                                       \
  ROW(enable_v2, cuptiActivityEnable_v2, void* subscriber, std::uint32_t kind, void* config)                           \
  ROW(enable_and_dump_v2, cuptiActivityEnableAndDump_v2, void* subscriber, std::uint32_t kind, void* config)           \
  ROW(disable_v2, cuptiActivityDisable_v2, void* subscriber, std::uint32_t kind, void* config)                         \
  ROW(next_record_v2, cuptiActivityGetNextRecord_v2, void* subscriber, std::uint8_t* buffer, std::size_t valid,        \
      cupti::Record** next)                                                                                            \
  ROW(dropped_records_v2, cuptiActivityGetNumDroppedRecords_v2, void* subscriber, void* context, std::uint32_t stream, \
      std::size_t* n)                                                                                                  \
  ROW(push_external_v2, cuptiActivityPushExternalCorrelationId_v2, void* subscriber, int kind, std::uint64_t id)       \
  ROW(pop_external_v2, cuptiActivityPopExternalCorrelationId_v2, void* subscriber, int kind, std::uint64_t* last)

/// Missing functions are null.
struct CuptiApi {
#define PROFSHIM_CUPTI_MEMBER(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
  PROFSHIM_CUPTI_FUNCTIONS(PROFSHIM_CUPTI_MEMBER)
#undef PROFSHIM_CUPTI_MEMBER

  bool usable() const {
    return register_callbacks != nullptr && enable != nullptr && disable != nullptr && flush_all != nullptr &&
           next_record != nullptr;
  }
  bool has_subscriber_api() const;
  /// Several subscribers can record: needs driver r610 (CUPTI's documentation) and CUPTI 13.3 update 1, which fixes a
  /// crash (release notes).
  bool subscribers_share = false;
  /// Returns the name and a likely cause.
  std::string text_of(int result) const;
};

}  // namespace profshim::device
