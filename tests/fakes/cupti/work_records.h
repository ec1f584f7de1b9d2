#pragma once

#include <cstdint>

#include "fakes/cupti/records.h"
#include "fakes/libcuda/device.h"

namespace fake::cupti {

struct Times {
  std::uint64_t start, end;
};

Kernel kernel_record(Kind kind, const Work& work, Times times, std::uint32_t correlation);
Memcpy copy_record(const Work& work, Times times, std::uint32_t correlation);
MemcpyPeer peer_record(const Work& work, Times times, std::uint32_t correlation);
Memset set_record(const Work& work, Times times, std::uint32_t correlation);
GraphTrace graph_record(const Work& work, Times times, std::uint32_t correlation);
Device device_record(int ordinal);

}  // namespace fake::cupti
