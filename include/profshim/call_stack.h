// Call stacks of recorded calls, taken on the job's threads.
//
// A stack is a text in the spool's string table, so that equal stacks are stored once: a Header, `python` StringIds,
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
/// Most frames of either kind; capture.stack_depth has the same bound.
inline constexpr std::size_t kMostFrames = 256;
inline constexpr std::size_t kMostBytes = sizeof(Header) + kMostFrames * (sizeof(StringId) + sizeof(std::uint64_t));

/// Prepares the spec's kinds of stack (Python, native); reports in problems[] those that cannot be taken. Returns false
/// if none can. Call at activation, once recorder::intern() works.
bool prepare(const Spec& spec);
/// Writes kModule definitions for files mapped since the last call. Slow (reads /proc/self/maps).
void define_modules();

// Call capture() and capture_operator() only while recorder::kStacks is set. They return the stack's id; 0 = none. No
// lock, no allocation, no GIL, no Python reference; but libunwind reads the unwind table of code that it has not seen
// yet.

/// For calls of functions in hooks/*.def.
StringId capture();
/// For PyTorch operators and ranges: every capture.stack_every-th of the thread, and all collectives (c10d).
StringId capture_operator(spool::Thread& thread, const char* name);

}  // namespace profshim::call_stack
