// EventArgs: NCCL calls as the job made them. See nccl_operation_args.h for PyTorch's form of an operation.
#include "event_args.h"
#include "nccl_operation_args.h"

namespace profshim::kineto {

void EventArgs::add_nccl(const Event& event) {
  const NcclArgs& nccl = event.nccl;
  add("function", hook_name(event.hook));
  if (nccl.bytes != 0) add("bytes", nccl.bytes);
  // The count of a group is the number of operations that it launches.
  if (nccl.count != 0) add(event.hook == HookId::ncclGroupEnd ? "operations" : "count", nccl.count);
  if (const std::string_view type = nccl_type_name(nccl.datatype); !type.empty()) add("dtype", type);
  if (const std::string_view op = nccl_op_name(nccl.op); !op.empty()) add("op", op);
  if (nccl.peer != kNone32) add(peer_key(event.hook), std::int64_t{nccl.peer});
  if (const Communicator* c = definitions_.communicator(nccl.comm)) {
    add("comm", c->name);
    add("comm id", std::string_view{c->identity});
    if (c->size > 0) add("Group size", c->size);
    if (c->own_rank >= 0) add("Rank", c->own_rank);
  }
  if (nccl.sequence != 0) add("Seq", std::uint64_t{nccl.sequence});
  if (nccl.group != 0) add("in group", true);
  if (nccl.from_nvtx != 0) add("seen by", std::string_view{"NVTX"});
  if ((event.flags & kFailed) != 0) {
    add("failed", true);
    add("result", nccl_result_name(nccl.result));
  }
}

}  // namespace profshim::kineto
