// Names requests of torch.distributed.rpc by the function that they call, which is read from their bytes: a pickle of
// Python or TorchScript.
#pragma once

#include <cstddef>
#include <string_view>

namespace profshim::torch {

/// torch::distributed::rpc::MessageType. Source: torch/csrc/distributed/rpc/message.h, the same from 1.13 to 2.x.
inline constexpr int kRpcRequest = 0x100, kRpcResponse = 0x200;

/// Writes a name such as "rpc_call#plus(worker0 -> worker1)", cut to `size`, and returns its length. The function is an
/// operator ("aten::add"), a TorchScript function ("__torch__.f"), the __qualname__ of a Python function, or
/// "rref.method" for a method that is called through an RRef. If it is not known, the name has no "#...". `payload` may
/// be any bytes.
std::size_t rpc_name(int type, std::string_view payload, std::string_view from, std::string_view to, char* text,
                     std::size_t size);

}  // namespace profshim::torch
