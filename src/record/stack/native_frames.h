// Opens libunwind RTLD_LOCAL: libunwind exports functions that unwind C++ exceptions, and the job must keep libgcc's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::native_frames {

/// Returns false if libunwind is missing.
bool prepare(std::string& why_not);

/// Stores return addresses, the job's innermost frame first, and returns how many. libunwind locks only when it first
/// unwinds a piece of code.
std::size_t take(std::uint64_t* addresses, std::size_t most);

void define_modules();
/// See call_stack::leave_parent().
void leave_parent();

}  // namespace profshim::recorder::native_frames
