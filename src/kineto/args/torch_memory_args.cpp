#include "torch_memory_args.h"

namespace profshim::kineto {

std::string_view memory_name(const Event& event) {
  return (event.flags & kFailed) != 0 ? std::string_view("[OutOfMemory]") : std::string_view("[memory]");
}

void add_memory_args(const Event& event, MemoryArgList& args) {
  const MemoryArgs& memory = event.memory;
  args.add("Device Type", std::int64_t{memory.device_type});
  args.add("Device Id", std::int64_t{memory.device_index});
  if ((event.flags & kFailed) == 0) args.add("Addr", memory.address);
  args.add("Bytes", memory.bytes);
  args.add("Total Allocated", memory.allocated);
  args.add("Total Reserved", memory.reserved);
}

}  // namespace profshim::kineto
