// The struct by which a client of CUPTI subscribes beside others, for the hooks of inject/ and for our own client.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::cupti {

/// CUpti_SubscriberParams (cupti_callbacks.h). CUPTI 13.1 has 32 bytes of it, 13.2 all.
struct SubscriberParameters {
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
  std::uint8_t allow_multiple;
  std::uint8_t padding[7];
};

}  // namespace profshim::cupti
