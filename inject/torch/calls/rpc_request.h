// What a request of torch.distributed.rpc asks for, read from its bytes: a pickle, of Python or of TorchScript.
#pragma once

#include <cstddef>
#include <string_view>

namespace profshim::torch {

/// torch::distributed::rpc::MessageType. Source: torch/csrc/distributed/rpc/message.h, the same from 1.13 to 2.x.
inline constexpr int kRpcRequest = 0x100, kRpcResponse = 0x200;

/// Writes "rpc_call#plus(worker0 -> worker1)", and how long that is; what does not fit is cut. For a call of a method
/// through an RRef "rref.method", as PyTorch's own names are otherwise ("aten::add", "__torch__.f", a function's
/// __qualname__); without "#..." where the function is not known. Any bytes may be given.
std::size_t rpc_name(int type, std::string_view payload, std::string_view from, std::string_view to, char* text,
                     std::size_t size);

}  // namespace profshim::torch
