#include "profshim/python/stack.h"
#include "python_walk.h"

namespace profshim::python_stack {

namespace python = recorder::python;

bool prepare(std::string& why_not) { return python::prepare_walk(why_not); }

std::size_t walk(Frame* frames, std::size_t most) {
  std::size_t count = 0;
  for (auto at = python::innermost_frame(); at != nullptr && count < most; at = python::caller_of(at)) {
    const python::Pointer code = python::code_of(at);
    if (code == nullptr) continue;
    frames[count++] = {at, code, static_cast<std::uint32_t>(python::frame_at(at, code).offset)};
  }
  return count;
}

const char* first_argument(const Frame& frame) { return python::first_argument(frame.frame, frame.code); }

std::string_view name_of_type(const char* type) {
  const std::string_view name = python::name_of_type(type);
  return name.substr(name.rfind('.') + 1);
}

}  // namespace profshim::python_stack
