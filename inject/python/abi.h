// The functions of CPython's C API that phases and capture.python_calls use. Source: Python's C API reference;
// Include/cpython/ceval.h, code.h and pystate.h for the names with an underscore or "PyUnstable".
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace profshim::python {

struct Object;
struct ThreadState;
struct InterpreterState;
struct Frame;  // 3.10: PyFrameObject; 3.11: _PyInterpreterFrame

/// Py_tracefunc
using ProfileFunction = int (*)(Object* own, Object* frame, int event, Object* argument);
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
  ThreadState* (*own_state)() = nullptr;      // of the calling thread; null = none
  ThreadState* (*current_state)() = nullptr;  // 3.10, 3.11: of the thread that has the GIL; later null without the GIL
  ThreadState* (*first_state)(InterpreterState*) = nullptr;
  ThreadState* (*next_state)(ThreadState*) = nullptr;
  int (*set_profile)(ThreadState*, ProfileFunction, Object*) = nullptr;  // up to 3.11
  int (*line_of)(Object* code, int offset) = nullptr;                    // offset in bytes
  void (*take_error)(Object** type, Object** value, Object** traceback) = nullptr;
  void (*set_error)(Object* type, Object* value, Object* traceback) = nullptr;
  std::intptr_t (*length)(Object*) = nullptr;
  Object* (*item)(Object*, std::intptr_t) = nullptr;
  int (*is_subtype)(Object* type, Object* base) = nullptr;
  // PyCFunction_Type, which only PyCMethod_Type extends; PyMethodDescr_Type.
  Object *function_type = nullptr, *bound_type = nullptr, *method_type = nullptr;
  Object* module_type = nullptr;
  Object* (*from_sys)(const char* name) = nullptr;  // borrowed
  Object* (*call_method)(Object*, const char* method, const char* format, ...) = nullptr;
  Object* (*make_function)(MethodDef*, Object* self, Object* module) = nullptr;
};

/// Returns false if this process has no interpreter yet. Thread-safe.
bool find_api();
namespace detail {
extern constinit Api the_api;
}
/// Constant once find_api() has returned true.
inline const Api& api() { return detail::the_api; }
/// True if the calling thread has the GIL.
bool has_gil();

/// The type of an object.
inline Object* type_of(const Object* object) {
  Object* type = nullptr;
  std::memcpy(&type, reinterpret_cast<const char*>(object) + 8, sizeof type);  // ob_type
  return type;
}

/// Returns an attribute that is a str, or "".
std::string text_of(Object* object, const char* attribute);
/// Returns an attribute that is an int, or 0.
long number_of(Object* object, const char* attribute);

/// A reference that this scope owns.
class Owned {
 public:
  explicit Owned(Object* object) : object_(object) {}
  ~Owned() {
    if (object_ != nullptr) api().drop_reference(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* get() const { return object_; }

 private:
  Object* object_;
};

}  // namespace profshim::python
