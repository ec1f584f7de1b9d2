// The functions of CPython's C API that phases use. Source: Python's C API reference; Include/cpython/{ceval,code,
// pystate}.h for the names with an underscore or "PyUnstable".
#pragma once

#include <cstdint>

namespace profshim::python {

struct Object;
struct ThreadState;
struct InterpreterState;
struct Frame;  // 3.10: PyFrameObject; 3.11: _PyInterpreterFrame

using EvalFrame = Object* (*)(ThreadState*, Frame*, int throws);

/// PyMethodDef
struct MethodDef {
  const char* name;
  Object* (*function)(Object* self, Object* const* arguments, std::intptr_t count);
  int flags;
  const char* doc;
};
inline constexpr int kFastCall = 0x80;  // METH_FASTCALL

/// Null where this version lacks the function.
struct Api {
  std::uint32_t version = 0;  // 0x030b for 3.11
  int (*is_initialized)() = nullptr;
  int (*add_pending_call)(int (*function)(void*), void* argument) = nullptr;
  InterpreterState* (*main_interpreter)() = nullptr;
  EvalFrame (*get_eval_frame)(InterpreterState*) = nullptr;
  void (*set_eval_frame)(InterpreterState*, EvalFrame) = nullptr;
  std::intptr_t (*request_code_extra)(void (*free)(void*)) = nullptr;
  int (*get_code_extra)(Object* code, std::intptr_t index, void** extra) = nullptr;
  int (*set_code_extra)(Object* code, std::intptr_t index, void* extra) = nullptr;
  unsigned long (*type_flags)(Object* type) = nullptr;
  void (*clear_error)() = nullptr;
  Object* (*get_attribute)(Object*, const char* name) = nullptr;
  Object* (*get_item)(Object* dict, const char* key) = nullptr;  // borrowed
  Object* (*get_globals)() = nullptr;                            // borrowed
  Object* (*get_frame)() = nullptr;                              // borrowed
  Object* (*get_generator)(Object* frame) = nullptr;             // since 3.11
  Object* (*make_weak_reference)(Object*, Object* callback) = nullptr;
  std::intptr_t (*tuple_size)(Object*) = nullptr;
  Object* (*tuple_item)(Object*, std::intptr_t) = nullptr;  // borrowed
  const char* (*text)(Object*) = nullptr;
  long (*integer)(Object*) = nullptr;
  void (*add_reference)(Object*) = nullptr;
  void (*drop_reference)(Object*) = nullptr;
  Object* none = nullptr;
  Object* (*import)(const char* module) = nullptr;
  Object* (*call_method)(Object*, const char* method, const char* format, ...) = nullptr;
  Object* (*make_function)(MethodDef*, Object* self, Object* module) = nullptr;
};

/// Returns false if this process has no interpreter yet.
bool find_api(Api& api);
/// Constant once find_api() has returned true.
const Api& api();

}  // namespace profshim::python
