// Offsets in CPython 3.10 to 3.14, 64 bits, with the GIL. No guesses: the version must be known, and sizes declared by
// the interpreter's types must agree.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::recorder::python {

/// Read by offset.
using Pointer = const char*;

/// 3.10 to 3.12: from Include/cpython and Include/internal. Later versions export _Py_DebugOffsets.
struct Layout {
  std::uint16_t state_frame;                               // of PyThreadState; a _PyCFrame if `is_indirect`
  std::uint16_t indirect_frame;                            // of _PyCFrame
  std::uint16_t previous, code, instruction, owner;        // of the frame; 3.10: `instruction` is an index
  std::uint16_t file, function, first_line, lines, bytes;  // of the code; `bytes`: instructions (3.10: a bytes object)
  std::uint16_t ascii, wide;                               // of a compact str's text
  bool is_indirect;
  bool has_entry_frames;  // the interpreter's own, marked by `owner`
  bool is_3_10;           // PyFrameObject, no qualified names, old line table
};

inline constexpr std::uint16_t kType = 8, kSize = 16, kStrState = 32, kBytesText = 32;
inline constexpr char kOwnedByC = 3;

struct Interpreter {
  Layout layout;
  Pointer (*thread_state)();  // PyGILState_GetThisThreadState: needs no GIL
  int (*is_initialized)();    // Py_IsInitialized: 0 once finalization begins
  Pointer code_type, str_type, bytes_type;
};

/// Returns the version in Py_GetVersion()'s text, such as "3.10.13 (main, ...", as PY_VERSION_HEX; 0 if the version is
/// not final ("3.10.0rc1") or the text has another form. A "+" marks a build from later sources of the same branch.
std::uint64_t version_in(const char* text);

bool find_interpreter(Interpreter& interpreter, std::string& why_not);

}  // namespace profshim::recorder::python
