#include "memory_args.h"

namespace profshim::kineto {

std::string_view memory_name(const Event& event) {
  return (event.flags & kFailed) != 0 ? std::string_view("[OutOfMemory]") : std::string_view("[memory]");
}

std::span<const Arg> memory_args(const Event& event, MemoryRoom& room) {
  const MemoryArgs& memory = event.memory;
  std::size_t used = 0;
  const auto add = [&](std::string_view key, decltype(Arg::value) value) { room[used++] = {key, value}; };
  add("Device Type", std::int64_t{memory.device_type});
  add("Device Id", std::int64_t{memory.device_index});
  if ((event.flags & kFailed) == 0) add("Addr", memory.address);
  add("Bytes", memory.bytes);
  add("Total Allocated", memory.allocated);
  add("Total Reserved", memory.reserved);
  return {room.data(), used};
}

}  // namespace profshim::kineto
