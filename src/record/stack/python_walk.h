// Walks the frames of the calling thread. While the thread is in a hook, its frames do not change, and keep their code
// objects alive.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "python_layout.h"

namespace profshim::recorder::python {

/// Constant once prepare_walk() has returned true.
extern constinit Interpreter interpreter;

/// Returns false without a supported Python. Thread-safe.
bool prepare_walk(std::string& why_not);

template <class T>
T load(Pointer object, std::size_t offset) {
  T value;
  std::memcpy(&value, object + offset, sizeof value);
  return value;
}
inline Pointer pointer_at(Pointer object, std::size_t offset) { return load<Pointer>(object, offset); }

/// Null if the thread runs no Python.
inline Pointer innermost_frame() {
  const Layout& at = interpreter.layout;
  const Pointer state = interpreter.thread_state();
  const Pointer frame = state == nullptr ? nullptr : pointer_at(state, at.state_frame);
  return at.is_indirect && frame != nullptr ? pointer_at(frame, at.indirect_frame) : frame;
}

inline Pointer caller_of(Pointer frame) { return pointer_at(frame, interpreter.layout.previous); }

inline constexpr std::uintptr_t kTags = 7;  // Python 3.14 marks uncounted references by these bits

/// Returns null for the interpreter's own frames.
inline Pointer code_of(Pointer frame) {
  const Layout& at = interpreter.layout;
  if (at.has_entry_frames && frame[at.owner] == kOwnedByC) return nullptr;
  const auto tagged = load<std::uintptr_t>(frame, at.code);
  const auto code = reinterpret_cast<Pointer>(tagged & ~kTags);
  return code != nullptr && pointer_at(code, kType) == interpreter.code_type ? code : nullptr;
}

struct Frame {
  Pointer code;
  std::size_t offset;  // of the current instruction, in bytes
};

inline Frame frame_at(Pointer frame, Pointer code) {
  const Layout& at = interpreter.layout;
  if (at.is_3_10) return {code, static_cast<std::size_t>(load<int>(frame, at.instruction)) * 2};
  return {code, static_cast<std::size_t>(pointer_at(frame, at.instruction) - (code + at.bytes))};
}

/// Returns the first argument; null if the function has none or has deleted it.
Pointer first_argument(Pointer frame, Pointer code);

/// Text of a str. `width`: bytes per character; 0 = unreadable.
struct Characters {
  Pointer at = nullptr;
  std::size_t bytes = 0;
  unsigned width = 0;
};
Characters characters_of(Pointer text);

/// Returns tp_name.
std::string_view name_of_type(Pointer type);

}  // namespace profshim::recorder::python
