#include "torch_args.h"

#include "event_args.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace arg = schema::arg;

void EventArgs::add_json(std::string_view key, StringId id) {
  if (id == 0) return;
  const std::string_view text = view_.string(id, spool::kMaxText);
  if (is_json(id, text)) add(key, RawJson{text});
}

void EventArgs::add_torch(const TorchArgs& torch) {
  if (torch.sequence != kNoSequence) add(arg::kSequenceNumber, torch.sequence);
  if (shows(spool::kShapes)) {
    add_json(arg::kConcreteInputs, torch.values);
    add_json(arg::kInputType, torch.types);
    add_json(arg::kInputStrides, torch.strides);
    add_json(arg::kInputDims, torch.dims);
  }
}

// "from" and "id" are equal in caller and callee: `profshim merge` draws an arrow between them.
void EventArgs::add_rpc(const Event& event) {
  const RpcArgs& rpc = event.rpc;
  const bool is_served = event.hook == HookId::kTorchRpcServed, has_answer = (event.flags & kStartEnd) != 0;
  add(arg::kRpc, is_served ? schema::rpc::kServed : has_answer ? schema::rpc::kRequest : schema::rpc::kSent);
  if (rpc.id != kNoRpcId) add(arg::kRpcId, rpc.id);
  if (rpc.from != 0) add(arg::kRpcFrom, view_.string(rpc.from));
  if (rpc.to != 0) add(arg::kRpcTo, view_.string(rpc.to));
  add(arg::kBytes, rpc.bytes);
  if ((event.flags & kFailed) != 0) add(arg::kFailed, true);
}

void EventArgs::add_flops(const Event& event) {
  if (!shows(spool::kFlops) || event.torch.dims == 0) return;
  const auto [at, is_new] = flops_.try_emplace({event.name, event.torch.dims, event.torch.values});
  if (is_new) {
    at->second = torch_flops(view_.string(event.name), view_.string(event.torch.dims, spool::kMaxText),
                             view_.string(event.torch.values, spool::kMaxText));
  }
  if (at->second) add(arg::kFlops, *at->second);
}

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
