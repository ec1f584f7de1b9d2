// CuptiApi: all functions of CUPTI that we call, looked up by name in the one libcupti of this process. A function that
// an older CUPTI lacks is null.
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

/// The buffer callbacks of a subscriber (CUPTI 13.3). Their last parameter is not read here.
using SubscriberBufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*);
using SubscriberBufferCompleted = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid_size, void*);
using profshim::cupti::SubscriberParameters;

// member | symbol | parameters; all return a CUptiResult.
#define PROFSHIM_CUPTI_FUNCTIONS(ROW)                                                                          \
  ROW(get_version, cuptiGetVersion, std::uint32_t* version)                                                    \
  ROW(result_string, cuptiGetResultString, int result, const char** text)                                      \
  ROW(callback_name, cuptiGetCallbackName, int domain, std::uint32_t callback_id, const char** name)           \
  ROW(register_callbacks, cuptiActivityRegisterCallbacks, BufferRequested requested, BufferCompleted done)     \
  ROW(register_timestamps, cuptiActivityRegisterTimestampCallback, TimestampCallback callback)                 \
  ROW(enable, cuptiActivityEnable, std::uint32_t kind)                                                         \
  ROW(enable_and_dump, cuptiActivityEnableAndDump, std::uint32_t kind)                                         \
  ROW(disable, cuptiActivityDisable, std::uint32_t kind)                                                       \
  ROW(enable_runtime_api, cuptiActivityEnableRuntimeApi, std::uint32_t callback_id, std::uint8_t on)           \
  ROW(enable_driver_api, cuptiActivityEnableDriverApi, std::uint32_t callback_id, std::uint8_t on)             \
  ROW(flush_all, cuptiActivityFlushAll, std::uint32_t flag)                                                    \
  ROW(next_record, cuptiActivityGetNextRecord, std::uint8_t* buffer, std::size_t valid, cupti::Record** next)  \
  ROW(dropped_records, cuptiActivityGetNumDroppedRecords, void* context, std::uint32_t stream, std::size_t* n) \
  ROW(push_external, cuptiActivityPushExternalCorrelationId, int kind, std::uint64_t id)                       \
  ROW(pop_external, cuptiActivityPopExternalCorrelationId, int kind, std::uint64_t* last)                      \
  ROW(subscribe, cuptiSubscribe, void** subscriber, ApiCallback callback, void* user)                          \
  ROW(unsubscribe, cuptiUnsubscribe, void* subscriber)                                                         \
  ROW(enable_callback, cuptiEnableCallback, std::uint32_t on, void* subscriber, int domain, std::uint32_t id)  \
  PROFSHIM_CUPTI_SUBSCRIBER_FUNCTIONS(ROW)

// The activity API of one of several subscribers, since CUPTI 13.3.
#define PROFSHIM_CUPTI_SUBSCRIBER_FUNCTIONS(ROW)                                                                       \
  ROW(subscribe_v2, cuptiSubscribe_v2, void** subscriber, ApiCallback callback, void* user, SubscriberParameters* p)   \
  ROW(register_callbacks_v2, cuptiActivityRegisterCallbacks_v2, void* subscriber, SubscriberBufferRequested,           \
      SubscriberBufferCompleted)                                                                                       \
  ROW(enable_v2, cuptiActivityEnable_v2, void* subscriber, std::uint32_t kind, void* config)                           \
  ROW(enable_and_dump_v2, cuptiActivityEnableAndDump_v2, void* subscriber, std::uint32_t kind, void* config)           \
  ROW(disable_v2, cuptiActivityDisable_v2, void* subscriber, std::uint32_t kind, void* config)                         \
  ROW(enable_runtime_api_v2, cuptiActivityEnableRuntimeApi_v2, void* subscriber, std::uint32_t id, std::uint8_t on)    \
  ROW(enable_driver_api_v2, cuptiActivityEnableDriverApi_v2, void* subscriber, std::uint32_t id, std::uint8_t on)      \
  ROW(next_record_v2, cuptiActivityGetNextRecord_v2, void* subscriber, std::uint8_t* buffer, std::size_t valid,        \
      cupti::Record** next)                                                                                            \
  ROW(dropped_records_v2, cuptiActivityGetNumDroppedRecords_v2, void* subscriber, void* context, std::uint32_t stream, \
      std::size_t* n)                                                                                                  \
  ROW(push_external_v2, cuptiActivityPushExternalCorrelationId_v2, void* subscriber, int kind, std::uint64_t id)       \
  ROW(pop_external_v2, cuptiActivityPopExternalCorrelationId_v2, void* subscriber, int kind, std::uint64_t* last)

struct CuptiApi {
#define PROFSHIM_CUPTI_MEMBER(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
  PROFSHIM_CUPTI_FUNCTIONS(PROFSHIM_CUPTI_MEMBER)
#undef PROFSHIM_CUPTI_MEMBER

  /// Returns true if all functions are there that a recording needs.
  bool usable() const {
    return register_callbacks != nullptr && enable != nullptr && disable != nullptr && flush_all != nullptr &&
           next_record != nullptr;
  }
  /// Returns true if this CUPTI has the whole subscriber API.
  bool has_subscriber_api() const;
  /// Several subscribers can record at a time. This also needs a driver of r610 (CUPTI's documentation: one subscriber
  /// with older drivers) and CUPTI 13.3 update 1, which fixes a crash (its release notes).
  bool subscribers_share = false;
  /// Returns the name of a result ("CUPTI_ERROR_NOT_INITIALIZED") or its number, and a likely cause if there is one.
  std::string text_of(int result) const;
};

struct FoundCupti {
  CuptiApi api;
  std::string path;     // of the library
  std::string problem;  // why none can be used, in one sentence; "" = found
};
/// Finds the libcupti of this process: the mapped one, otherwise $PROFSHIM_CUPTI, one near the mapped libcudart, one by
/// SONAME from the driver's version downwards, or one in a toolkit's folder. Never loads a second copy. Device thread.
FoundCupti find_cupti();

/// Waits until cuInit has ended, on whichever thread it runs, and counts the devices. Returns "" if there is one,
/// otherwise the driver's error in one sentence. Device thread; not inside cuInit.
std::string wait_for_devices();

/// Returns true if a shared libcudart is mapped, not one linked into the program. Calls no function of CUDA, so that it
/// can be used inside cuInit, which holds locks.
bool runtime_is_mapped();
/// Returns true if a device has its primary context, so that activity may have been launched. Asks the mapped libcuda;
/// creates no context.
bool a_context_exists();
/// Returns true if PyTorch's CUDA library is mapped, whose profiler is a client of CUPTI.
bool torch_is_mapped();
/// Return CUDA versions in CUDA's numbering (12040); 0 if unknown. Ask mapped libraries; load nothing.
int driver_version();
int runtime_version();
/// Returns an attribute of a device (CUdevice_attribute), or -1. Asks the mapped libcuda.
int device_attribute(int attribute, int device);

}  // namespace profshim::device
