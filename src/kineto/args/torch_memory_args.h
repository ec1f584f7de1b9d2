// kTorchMemory as PyTorch's profiler writes it: an instant on the thread that allocated or freed the memory.
#pragma once

#include <string_view>

#include "arg_list.h"
#include "profshim/event.h"

namespace profshim::kineto {

/// Returns "[memory]", or "[OutOfMemory]" if the allocation failed.
std::string_view memory_name(const Event& event);

using MemoryArgList = ArgList<6>;
void add_memory_args(const Event& event, MemoryArgList& args);

}  // namespace profshim::kineto
