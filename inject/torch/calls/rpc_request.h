#pragma once

#include <cstddef>
#include <string_view>

namespace profshim::torch {

/// Bits of torch::distributed::rpc::MessageType, 1.13 to 2.x.
inline constexpr int kRpcRequest = 0x100, kRpcResponse = 0x200;

/// Writes a name such as "rpc_call#plus(worker0 -> worker1)", cut to `size`, and returns its length. The function is an
/// operator, a TorchScript function, a Python __qualname__ or "rref.method". `payload` may be any bytes.
std::size_t rpc_name(int type, std::string_view payload, std::string_view from, std::string_view to, char* text,
                     std::size_t size);

}  // namespace profshim::torch
