#pragma once

#include <string_view>

#include "arg_list.h"
#include "profshim/event.h"

namespace profshim::kineto {

std::string_view memory_name(const Event& event);

using MemoryArgList = ArgList<6>;
void add_memory_args(const Event& event, MemoryArgList& args);

}  // namespace profshim::kineto
