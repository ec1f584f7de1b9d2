// The native frames of the calling thread, by libunwind. The library is opened on demand with RTLD_LOCAL: it exports
// the functions that unwind C++ exceptions, and the job must keep using those of libgcc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::native_frames {

/// Opens libunwind. Returns false and a reason if there is none. Once, at activation.
bool prepare(std::string& why_not);

/// Writes at most `most` return addresses, from the job's innermost frame outwards without our own, and returns their
/// number. Takes no lock and does not allocate, except for code that it has not seen before.
std::size_t take(std::uint64_t* addresses, std::size_t most);

/// See call_stack::define_modules().
void define_modules();

}  // namespace profshim::recorder::native_frames
