// Where CPython keeps what a frame says, by version: 3.10 to 3.14, 64 bits, with the GIL. Nothing of it is guessed: the
// version must be one of these, and what the interpreter says of the sizes of its own types must agree.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::recorder::python {

/// An object or another structure of the interpreter, read by offset.
using Pointer = const char*;

/// Offsets in bytes. 3.10 to 3.12: as those versions' headers have them (Include/cpython, Include/internal); the later
/// ones bring a table of their own, _Py_DebugOffsets.
struct Layout {
  std::uint16_t state_frame;     // PyThreadState: the frame, or its _PyCFrame where `is_indirect` is set
  std::uint16_t indirect_frame;  // _PyCFrame: the frame
  std::uint16_t previous, code, instruction, owner;        // frame; 3.10: `instruction` is an index
  std::uint16_t file, function, first_line, lines, bytes;  // code; `bytes`: its instructions (3.10: a bytes object)
  std::uint16_t ascii, wide;                               // str: where the text of a compact one begins
  bool is_indirect;
  bool has_entry_frames;  // frames of the interpreter itself: `owner` tells
  bool is_3_10;           // PyFrameObject, no qualified names, the older table of lines
};

/// The same in all of them.
inline constexpr std::uint16_t kType = 8, kSize = 16, kStrState = 32, kBytesText = 32;
inline constexpr char kOwnedByC = 3;

struct Interpreter {
  Layout layout;
  Pointer (*thread_state)();  // PyGILState_GetThisThreadState: needs no GIL
  int (*is_initialized)();    // Py_IsInitialized: 0 from the moment it begins to finalize
  Pointer code_type, str_type, bytes_type;
};

/// The interpreter of this process. False and a reason where there is none, or none that is known.
bool find_interpreter(Interpreter& interpreter, std::string& why_not);

}  // namespace profshim::recorder::python
