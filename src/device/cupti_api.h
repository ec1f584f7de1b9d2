// Every function of CUPTI that we call, found by name in the one libcupti of this process. Each is optional: what an
// older CUPTI lacks is null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cupti_records.h"

namespace profshim::device {

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                 std::size_t valid_size);
/// `data`: CUpti_CallbackData.
using ApiCallback = void (*)(void* user, int domain, std::uint32_t callback_id, const void* data);
using TimestampCallback = std::uint64_t (*)();

// member | symbol | parameters; all return a CUptiResult.
#define PROFSHIM_CUPTI_FUNCTIONS(ROW)                                                                          \
  ROW(get_version, cuptiGetVersion, std::uint32_t* version)                                                    \
  ROW(result_string, cuptiGetResultString, int result, const char** text)                                      \
  ROW(callback_name, cuptiGetCallbackName, int domain, std::uint32_t callback_id, const char** name)           \
  ROW(register_callbacks, cuptiActivityRegisterCallbacks, BufferRequested requested, BufferCompleted done)     \
  ROW(register_timestamps, cuptiActivityRegisterTimestampCallback, TimestampCallback callback)                 \
  ROW(enable, cuptiActivityEnable, std::uint32_t kind)                                                         \
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
  ROW(enable_callback, cuptiEnableCallback, std::uint32_t on, void* subscriber, int domain, std::uint32_t callback_id)

struct CuptiApi {
#define PROFSHIM_CUPTI_MEMBER(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
  PROFSHIM_CUPTI_FUNCTIONS(PROFSHIM_CUPTI_MEMBER)
#undef PROFSHIM_CUPTI_MEMBER

  /// All that a recording cannot do without.
  bool usable() const {
    return register_callbacks != nullptr && enable != nullptr && disable != nullptr && flush_all != nullptr &&
           next_record != nullptr;
  }
  /// "CUPTI_ERROR_NOT_INITIALIZED", or the number.
  std::string text_of(int result) const;
};

struct FoundCupti {
  CuptiApi api;
  std::string path;     // of the library
  std::string problem;  // why there is none, in one sentence; "" = found
};
/// The libcupti of this process: the one that is mapped already, else $PROFSHIM_CUPTI, one near the mapped libcudart,
/// by SONAME from the driver's version downwards, or in a toolkit's folder. Never a second copy. Opens libraries: for
/// InitializeInjection only.
FoundCupti find_cupti();

/// Is there a libcudart of its own, not one inside the program? Asks nobody: inside cuInit it holds locks.
bool runtime_is_mapped();
/// CUDA versions as CUDA numbers them (12040); 0 = not known. Asks the libraries that are mapped; loads nothing.
int driver_version();
int runtime_version();
/// An attribute of a device (CUdevice_attribute), or -1. Asks the mapped libcuda.
int device_attribute(int attribute, int device);

}  // namespace profshim::device
