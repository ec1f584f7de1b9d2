#include "event_args.h"
#include "nccl_operation_args.h"
#include "profshim/hooks/ids.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

namespace arg = schema::arg;

void EventArgs::add_nccl(const Event& event) {
  const NcclArgs& nccl = event.nccl;
  add(arg::kFunction, hook_name(event.hook));
  if (nccl.bytes != 0) add(arg::kBytes, nccl.bytes);
  if (nccl.count != 0) add(event.hook == hooks::ncclGroupEnd ? arg::kOperations : arg::kCount, nccl.count);
  if (const std::string_view type = nccl_type_name(nccl.datatype); !type.empty()) add(arg::kDtype, type);
  if (const std::string_view op = nccl_op_name(nccl.op); !op.empty()) add(arg::kOp, op);
  if (nccl.peer != kNone32) add(peer_key(event.hook), std::int64_t{nccl.peer});
  if (const Communicator* c = definitions_.communicator(nccl.comm)) {
    add(arg::kComm, c->name);
    add(arg::kCommId, std::string_view{c->identity});
    if (c->size > 0) add(arg::kGroupSize, c->size);
    if (c->own_rank >= 0) add(arg::kRank, c->own_rank);
  }
  if (nccl.sequence != 0) add(arg::kSequence, std::uint64_t{nccl.sequence});
  if (nccl.group != 0) add(arg::kInGroup, true);
  if (nccl.from_nvtx != 0) add(arg::kSeenBy, std::string_view{"NVTX"});
  if ((event.flags & kFailed) != 0) {
    add(arg::kFailed, true);
    add(arg::kResult, nccl_result_name(nccl.result));
  }
}

}  // namespace profshim::kineto
