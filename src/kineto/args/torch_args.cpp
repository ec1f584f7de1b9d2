// EventArgs: PyTorch operators and RPC requests.
#include "event_args.h"
#include "torch_shapes.h"

namespace profshim::kineto {

void EventArgs::add_json(std::string_view key, StringId id) {
  if (id == 0) return;
  const std::string_view text = view_.string(id, spool::kMaxText);
  if (is_json(id, text)) add(key, RawJson{text});
}

void EventArgs::add_torch(const TorchArgs& torch) {
  if (torch.sequence != kNoSequence) add("Sequence number", torch.sequence);
  if (shows_inputs_) {
    add_json("Concrete Inputs", torch.values);
    add_json("Input type", torch.types);
    add_json("Input Strides", torch.strides);
    add_json("Input Dims", torch.dims);
  }
}

// "from" and "id" are the same on both sides and name one request of the job: a merge draws arrows from them.
void EventArgs::add_rpc(const Event& event) {
  const RpcArgs& rpc = event.rpc;
  add("rpc", event.hook == HookId::kTorchRpcServed ? "served" : (event.flags & kStartEnd) != 0 ? "request" : "sent");
  if (rpc.id != kNoRpcId) add("id", rpc.id);
  if (rpc.from != 0) add("from", view_.string(rpc.from));
  if (rpc.to != 0) add("to", view_.string(rpc.to));
  add("bytes", rpc.bytes);
  if ((event.flags & kFailed) != 0) add("failed", true);
}

void EventArgs::add_flops(const Event& event) {
  if (!shows_flops_ || event.torch.dims == 0) return;
  const auto [at, is_new] = flops_.try_emplace({event.name, event.torch.dims, event.torch.values});
  if (is_new) {
    at->second = torch_flops(view_.string(event.name), view_.string(event.torch.dims, spool::kMaxText),
                             view_.string(event.torch.values, spool::kMaxText));
  }
  if (at->second) add("flops", *at->second);
}

}  // namespace profshim::kineto
