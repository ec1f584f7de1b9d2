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

}  // namespace profshim::python::calls
