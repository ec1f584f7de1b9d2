// Call stacks: from where in its program a call was made. The hooks take them on the job's threads, src/spool makes
// them readable.
//
// A stack is a text of the spool's string table, so that each is kept once. Its bytes: a Header, `python` ids of type
// StringId, then `native` addresses of 8 bytes; both from the innermost frame outwards. A Python frame is the text
// "file(line): function". A native frame is a return address, whose names come from the kModule definitions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profshim/event.h"
#include "profshim/spec.h"
#include "profshim/spool.h"

namespace profshim::call_stack {

struct Header {
  std::uint16_t python, native;
};
/// Frames of either kind that a stack can have: capture.stack_depth goes as far.
inline constexpr std::size_t kMostFrames = 256;
inline constexpr std::size_t kMostBytes = sizeof(Header) + kMostFrames * (sizeof(StringId) + sizeof(std::uint64_t));

/// At activation, once the spool takes texts: what the spec asks for and this process can give. False when that is
/// nothing; what is missing has then been said in problems[].
bool prepare(const Spec& spec);
/// Tells the spool which files the addresses of native frames belong to: what has been mapped since the last time.
/// Cold.
void define_modules();

// Both: only where recorder::kStacks is set. No lock, no allocation, and of Python neither the GIL nor a reference; a
// native frame that is seen for the first time is the exception, libunwind reads its unwinding table then. They give
// the id of the stack; 0 = none.

/// Of a collective or another call of the hook tables.
StringId capture();
/// Of an operator or range of PyTorch: every capture.stack_every-th of a thread, and those of c10d.
StringId capture_operator(spool::Thread& thread, const char* name);

}  // namespace profshim::call_stack
