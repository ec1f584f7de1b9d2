// Call stacks of recorded calls, taken on the job's threads.
//
// A stack is a text in the spool's string arena, so that equal stacks are stored once: a Header, `python` StringIds,
// then `native` addresses of 8 bytes, both innermost first. A Python frame is the text "file(line): function". A native
// frame is a return address; kModule definitions tell its file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profshim/event.h"
#include "profshim/spec.h"
#include "profshim/spool/format.h"

namespace profshim::call_stack {

struct Header {
  std::uint16_t python, native;
};
/// The most frames of either kind; capture.stack_depth has the same bound.
inline constexpr std::size_t kMostFrames = 256;
inline constexpr std::size_t kMostBytes = sizeof(Header) + kMostFrames * (sizeof(StringId) + sizeof(std::uint64_t));

/// Prepares the stacks that the spec asks for (Python, native); reports a problem for those that cannot be taken.
/// Returns false if none can. Call when the session begins, once recorder::intern() works.
bool prepare(const Spec& spec);
/// Writes kModule definitions for files mapped since the last call. Slow (reads /proc/self/maps).
void define_modules();

// Call capture() and capture_operator() only while recorder::kStacks is set. They return the stack's id; 0 = none. They
// take no lock, GIL or Python reference and allocate nothing, but libunwind reads the unwind tables of code that it has
// not seen yet.

/// For calls of functions in hooks/*.def.
StringId capture();
/// For PyTorch operators and ranges: captures every capture.stack_every-th of the thread, and all collectives (c10d).
StringId capture_operator(spool::Thread& thread, const char* name);

}  // namespace profshim::call_stack
