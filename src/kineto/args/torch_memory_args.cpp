#include "torch_memory_args.h"

#include "profshim/trace/schema.h"

namespace profshim::kineto {

namespace arg = schema::arg;

std::string_view memory_name(const Event& event) {
  return (event.flags & kFailed) != 0 ? schema::name::kOutOfMemory : schema::name::kMemory;
}

void add_memory_args(const Event& event, MemoryArgList& args) {
  const MemoryArgs& memory = event.memory;
  args.add(arg::kDeviceType, std::int64_t{memory.device_type});
  args.add(arg::kDeviceId, std::int64_t{memory.device_index});
  if ((event.flags & kFailed) == 0) args.add(arg::kAddress, memory.address);
  args.add(arg::kMemoryBytes, memory.bytes);
  if (memory.allocated != kUnknownTotal) args.add(arg::kTotalAllocated, memory.allocated);
  if (memory.reserved != kUnknownTotal) args.add(arg::kTotalReserved, memory.reserved);
}

}  // namespace profshim::kineto
