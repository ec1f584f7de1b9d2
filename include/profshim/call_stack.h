// Takes the stacks of recorded calls, on the job's threads. The spool's string arena holds a stack as: a Header, then
// Header::python StringIds of Python frames ("file(line): function"), then Header::modules StringIds of the classes of
// PyTorch's modules, then Header::native return addresses of 8 bytes. All are innermost first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profshim/event.h"
#include "profshim/spec.h"
#include "profshim/spool/format.h"

namespace profshim::call_stack {

struct Header {
  std::uint16_t python, native, modules, reserved;
};
/// Most frames of one kind (Python, native). capture.stack_depth has the same bound.
inline constexpr std::size_t kMostFrames = 256;
inline constexpr std::size_t kMostModules = 64;
inline constexpr std::size_t kMostBytes =
    sizeof(Header) + kMostFrames * (sizeof(StringId) + sizeof(std::uint64_t)) + kMostModules * sizeof(StringId);

/// Reports a problem for each kind of stack (Python, native) that `detail` asks for but that cannot be taken. Returns
/// false if none can. Then as choose(). Call after recorder::intern() works, once.
bool prepare(const Detail& detail);
/// Call in a child of any fork: a thread of the parent may have held a lock.
void leave_parent();
/// Chooses among the prepared stacks those that are taken from now on. Thread-safe.
void choose(const Detail& detail);
/// Writes kModule definitions for code mapped since the last define_modules(). Slow (reads /proc/self/maps).
void define_modules();

// Call capture() and capture_operator() only while recorder::kStacks is set. Both return 0 if there is no stack, take
// no lock, GIL or Python reference, and allocate nothing, but libunwind may lock and read files.

/// For MPI and NCCL functions and RPCs.
StringId capture();
/// For PyTorch operators and ranges: captures each capture.stack_every-th on `thread`, and all communication of
/// torch.distributed.
StringId capture_operator(spool::Thread& thread, const char* name);

}  // namespace profshim::call_stack
