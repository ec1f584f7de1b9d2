#include <dlfcn.h>

#include <algorithm>

#include "profshim/python/stack.h"
#include "python_walk.h"

namespace profshim::python_stack {

namespace python = recorder::python;

namespace {

/// "" unless each character has one byte.
std::string_view text_at(python::Pointer code, std::size_t offset) {
  const python::Characters text = python::characters_of(python::pointer_at(code, offset));
  return text.width == 1 ? std::string_view(text.at, text.bytes) : std::string_view();
}

bool is_any(python::Pointer code, std::span<const Function> functions) {
  const auto& at = python::interpreter.layout;
  return std::any_of(functions.begin(), functions.end(), [&](const Function& function) {
    return text_at(code, at.function) == function.name && text_at(code, at.file).ends_with(function.file);
  });
}

}  // namespace

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

Runs runs_any(std::span<const Function> functions) {
  constexpr std::size_t kMostWalked = 1024;
  std::string why_not;
  if (!prepare(why_not))
    return dlsym(RTLD_DEFAULT, "Py_IsInitialized") == nullptr ? Runs::kNoPython : Runs::kUnreadable;
  if (python::interpreter.is_initialized() == 0) return Runs::kUnreadable;
  python::Pointer frame = python::innermost_frame();
  if (frame == nullptr) return Runs::kUnreadable;
  for (std::size_t walked = 0; frame != nullptr && walked < kMostWalked; frame = python::caller_of(frame), ++walked) {
    const python::Pointer code = python::code_of(frame);
    if (code != nullptr && is_any(code, functions)) return Runs::kAny;
  }
  return Runs::kNone;
}

const char* first_argument(const Frame& frame) { return python::first_argument(frame.frame, frame.code); }

std::string_view name_of_type(const char* type) {
  const std::string_view name = python::name_of_type(type);
  return name.substr(name.rfind('.') + 1);
}

}  // namespace profshim::python_stack
