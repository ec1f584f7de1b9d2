// kTorchMemory as PyTorch's profiler writes it: an instant of the thread that asked for the memory or gave it back.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "profshim/event.h"
#include "profshim/trace.h"

namespace profshim::kineto {

/// "[memory]"; "[OutOfMemory]" where the allocator could not give it.
std::string_view memory_name(const Event& event);

/// Room for the args of one of them.
using MemoryRoom = std::array<Arg, 6>;
std::span<const Arg> memory_args(const Event& event, MemoryRoom& room);

}  // namespace profshim::kineto
