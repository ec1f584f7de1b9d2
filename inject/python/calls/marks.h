// The pairs of a function and the place of its call. All functions need the GIL and no exception set.
#pragma once

#include "functions.h"
#include "profshim/python/stack.h"

namespace profshim::python::calls {

inline Object* code_of(const python_stack::Frame& frame) {
  return reinterpret_cast<Object*>(const_cast<char*>(frame.code));
}

/// Returns the StringId of the python_calls::CallSite, or python_calls::kLost. `caller`: null for the outermost frame.
/// The name has the present line of the frame, as in PyTorch: a function that begins has its first, a generator that
/// goes on the line after its yield.
std::uint32_t site_of(const CodeFunction& function, const python_stack::Frame& frame,
                      const python_stack::Frame* caller);
std::uint32_t site_of(const BuiltIn& function, const python_stack::Frame& caller);

// Commits the begins and ends of calls. All functions need the GIL and no exception set.

/// The frame that a callback is about, which is the innermost.
enum class Innermost : std::uint8_t { kBegins, kGoesOn };

/// Returns true if calls are recorded. Commits the stack first if that is due: without the innermost frame if it
/// begins.
bool ready(Innermost innermost);
// Call after ready().
void begin(std::uint32_t site);
void end(std::uint32_t function);

/// Call when the callbacks have been switched on.
void begin_recording();
/// In a child of a fork, whose spool has no mark of this thread.
void forget_thread();

}  // namespace profshim::python::calls
