// Offsets of the fields of CPython's frames, by version: 3.10 to 3.14, 64 bits, with the GIL. Nothing is guessed: the
// version must be one of these, and the sizes that the interpreter's own types declare must agree.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::recorder::python {

/// Address of an object or another structure of the interpreter, which is read by offset.
using Pointer = const char*;

/// Offsets in bytes. 3.10 to 3.12: from the headers of these versions (Include/cpython, Include/internal). Later
/// versions export a table, _Py_DebugOffsets.
struct Layout {
  std::uint16_t state_frame;     // PyThreadState: the frame, or its _PyCFrame if `is_indirect` is set
  std::uint16_t indirect_frame;  // _PyCFrame: the frame
  std::uint16_t previous, code, instruction, owner;        // frame; 3.10: `instruction` is an index
  std::uint16_t file, function, first_line, lines, bytes;  // code; `bytes`: its instructions (3.10: a bytes object)
  std::uint16_t ascii, wide;                               // compact str: offset of the text
  bool is_indirect;
  bool has_entry_frames;  // there are frames of the interpreter itself, marked by `owner`
  bool is_3_10;           // PyFrameObject, no qualified names, older line table
};

/// Offsets and values that all versions share.
inline constexpr std::uint16_t kType = 8, kSize = 16, kStrState = 32, kBytesText = 32;
inline constexpr char kOwnedByC = 3;

struct Interpreter {
  Layout layout;
  Pointer (*thread_state)();  // PyGILState_GetThisThreadState: needs no GIL
  int (*is_initialized)();    // Py_IsInitialized: 0 from the moment it begins to finalize
  Pointer code_type, str_type, bytes_type;
};

/// Finds the interpreter of this process. Returns false and a reason if there is none or its version is not known.
bool find_interpreter(Interpreter& interpreter, std::string& why_not);

}  // namespace profshim::recorder::python
