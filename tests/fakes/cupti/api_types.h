#pragma once

#include <cstddef>
#include <cstdint>

#include "fakes/cupti/records.h"

namespace fake::cupti {

inline constexpr Sizes kSizes = FAKE_CUPTI_VERSION >= 130300   ? kSizes133
                                : FAKE_CUPTI_VERSION >= 130200 ? kSizes132
                                : FAKE_CUPTI_VERSION >= 130000 ? kSizes130
                                                               : (FAKE_CUPTI_VERSION >= 22 ? kSizes124 : kSizes118);
inline constexpr bool kHasSubscribers = FAKE_CUPTI_VERSION >= 130300;

enum Result : int {
  kOk = 0,
  kInvalidParameter = 1,
  kMaximumReached = 12,
  kInvalidOperation = 7,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kQueueEmpty = 18,
  kInvalidKind = 21,
  kNotSupported = 27,
  kSeveralSubscribers = 39,
  kUnknown = 999,
};

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* maximum_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid_size);
using RequestOfSubscriber = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* maximum_records, void*);
using CompleteOfSubscriber = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid_size, void*);
using Timestamp = std::uint64_t (*)();

struct CallbackData {  // CUpti_CallbackData
  std::uint32_t site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol;
  void* context;
  std::uint32_t context_id;
  std::uint64_t* user_data;
  std::uint32_t correlation;
};
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t callback_id, const void* data);

struct Subscriber {
  Callback callback = nullptr;
  void* user = nullptr;
};

}  // namespace fake::cupti
