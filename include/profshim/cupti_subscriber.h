#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::cupti {

/// CUpti_SubscriberParams (cupti_callbacks.h). CUPTI 13.1 has only the first 32 bytes, 13.2 the whole struct.
struct SubscriberParameters {
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
  std::uint8_t allow_multiple;
  std::uint8_t padding[7];
};

}  // namespace profshim::cupti
