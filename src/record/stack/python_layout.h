// Offsets of fields in objects of CPython 3.10 to 3.14, 64-bit, with the GIL.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::recorder::python {

/// A CPython object.
using Pointer = const char*;

/// Source: Include/cpython and Include/internal (3.10 to 3.12); _Py_DebugOffsets (since 3.13).
struct Layout {
  std::uint16_t state_frame;                               // in PyThreadState; a _PyCFrame if `is_indirect`
  std::uint16_t indirect_frame;                            // in _PyCFrame
  std::uint16_t previous, code, instruction, owner;        // in the frame; 3.10: `instruction` is an index
  std::uint16_t file, function, first_line, lines, bytes;  // in the code; `bytes`: instructions (3.10: a bytes object)
  std::uint16_t argument_count;                            // in the code
  std::uint16_t locals;                                    // in the frame: its variables, arguments first
  std::uint16_t ascii, wide;                               // characters of an ASCII str, of another str
  bool is_indirect;
  bool has_entry_frames;  // `owner` marks the interpreter's own frames
  bool is_3_10;           // frames are PyFrameObjects; old line table
};

inline constexpr std::uint16_t kType = 8, kSize = 16, kStrState = 32, kBytesText = 32;
inline constexpr std::uint16_t kTupleItems = 24, kCellContent = 16;
/// tp_name and tp_mro of PyTypeObject (Include/cpython/object.h), the same in 3.10 to 3.14.
inline constexpr std::uint16_t kTypeName = 24, kTypeBases = 344;
inline constexpr char kOwnedByC = 3;

struct Interpreter {
  Layout layout;
  Pointer (*thread_state)();  // PyGILState_GetThisThreadState
  int (*is_initialized)();    // Py_IsInitialized: 0 once finalization begins
  Pointer code_type, str_type, bytes_type, tuple_type, cell_type;
};

/// `text`: of Py_GetVersion(), such as "3.10.13 (main, ...". Returns PY_VERSION_HEX, or 0 if the version is not final.
/// Ignores a "+" (a later build of the branch).
std::uint64_t version_in(const char* text);

bool find_interpreter(Interpreter& interpreter, std::string& why_not);

}  // namespace profshim::recorder::python
