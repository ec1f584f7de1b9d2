// Call stacks of recorded calls. The hooks take them on the job's threads; the writer makes them readable.
//
// A stack is a text of the spool's string table, so that equal stacks are stored once. Its bytes: a Header, `python`
// ids of type StringId, then `native` addresses of 8 bytes; both from the innermost frame outwards. A Python frame is
// the text "file(line): function". A native frame is a return address; the kModule definitions tell which file it lies
// in.
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
/// The largest number of frames of either kind in a stack; capture.stack_depth has the same bound.
inline constexpr std::size_t kMostFrames = 256;
inline constexpr std::size_t kMostBytes = sizeof(Header) + kMostFrames * (sizeof(StringId) + sizeof(std::uint64_t));

/// Prepares the kinds of stack that the spec asks for. Returns false if there is none to take; each missing kind is
/// reported in problems[]. At activation, once the spool takes texts.
bool prepare(const Spec& spec);
/// Writes kModule definitions for the files that were mapped since the last call. Slow (reads /proc/self/maps).
void define_modules();

// capture() and capture_operator() may be called only while recorder::kStacks is set. They take no lock, do not
// allocate, and need neither Python's GIL nor a reference. Exception: libunwind reads the unwind table of code that it
// sees for the first time. Both return the id of the stack; 0 = none.

/// Takes the stack of a collective or of another function of the hook tables.
StringId capture();
/// Takes the stack of an operator or range of PyTorch: every capture.stack_every-th of the thread, and all of c10d.
StringId capture_operator(spool::Thread& thread, const char* name);

}  // namespace profshim::call_stack
