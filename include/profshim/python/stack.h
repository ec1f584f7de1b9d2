// Reads the calling thread's Python frames without reference counts, for capture.python_calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace profshim::python_stack {

/// Addresses of CPython objects that live while the frame does.
struct Frame {
  const char* frame;
  const char* code;
  std::uint32_t offset;  // of the current instruction, in bytes
};

/// Returns false without a supported Python. Thread-safe.
bool prepare(std::string& why_not);
/// Stores up to `most` frames, innermost first. Call after prepare(), with the GIL.
std::size_t walk(Frame* frames, std::size_t most);
/// A function by its name, and the end of the path of its file.
struct Function {
  std::string_view file, name;
};
enum class Runs : std::uint8_t {
  kNoPython,    // in this process
  kUnreadable,  // the thread runs no Python, or an unsupported one
  kNone,
  kAny,
};
/// Tells if the calling thread is inside one of `functions`. Needs neither prepare() nor the GIL; allocates when it
/// first runs.
Runs runs_any(std::span<const Function> functions);
/// Null if the function has none or has deleted it.
const char* first_argument(const Frame& frame);
/// Returns tp_name without its module.
std::string_view name_of_type(const char* type);

}  // namespace profshim::python_stack
