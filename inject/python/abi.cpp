#include "abi.h"

#include <dlfcn.h>

#include <mutex>

#include "profshim/base/text/number_text.h"

namespace profshim::python {
namespace {

/// `found`: a function or an object.
template <class Pointer>
void find(Pointer& found, const char* name, const char* newer_name = nullptr) {
  void* address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr && newer_name != nullptr) address = dlsym(RTLD_DEFAULT, newer_name);
  found = reinterpret_cast<Pointer>(address);
}

}  // namespace

constinit Api detail::the_api;
using detail::the_api;

bool find_api() {
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (the_api.version != 0) return true;
  Api found;
  const char* (*version)() = nullptr;
  find(version, "Py_GetVersion");
  find(found.is_initialized, "Py_IsInitialized");
  if (version == nullptr || found.is_initialized == nullptr || found.is_initialized() == 0) return false;
  unsigned major = 0, minor = 0;
  std::string_view text = version();
  if (!take_number(text, major) || !take_character(text, '.') || !take_number(text, minor)) return false;
  found.version = major << 8 | minor;
  find(found.add_pending_call, "Py_AddPendingCall");
  find(found.main_interpreter, "PyInterpreterState_Main");
  find(found.get_eval_frame, "_PyInterpreterState_GetEvalFrameFunc");
  find(found.set_eval_frame, "_PyInterpreterState_SetEvalFrameFunc");
  find(found.request_code_extra, "_PyEval_RequestCodeExtraIndex", "PyUnstable_Eval_RequestCodeExtraIndex");
  find(found.get_code_extra, "_PyCode_GetExtra", "PyUnstable_Code_GetExtra");
  find(found.set_code_extra, "_PyCode_SetExtra", "PyUnstable_Code_SetExtra");
  find(found.type_flags, "PyType_GetFlags");
  find(found.clear_error, "PyErr_Clear");
  find(found.get_attribute, "PyObject_GetAttrString");
  find(found.get_item, "PyDict_GetItemString");
  find(found.get_frame, "PyEval_GetFrame");
  find(found.get_generator, "PyFrame_GetGenerator");
  find(found.make_weak_reference, "PyWeakref_NewRef");
  find(found.get_globals, "PyEval_GetGlobals");
  find(found.tuple_size, "PyTuple_Size");
  find(found.tuple_item, "PyTuple_GetItem");
  find(found.text, "PyUnicode_AsUTF8");
  find(found.integer, "PyLong_AsLong");
  find(found.add_reference, "Py_IncRef");
  find(found.drop_reference, "Py_DecRef");
  find(found.none, "_Py_NoneStruct");
  find(found.from_sys, "PySys_GetObject");
  find(found.call_method, "PyObject_CallMethod", "_PyObject_CallMethod_SizeT");
  find(found.make_function, "PyCFunction_NewEx");
  find(found.own_state, "PyGILState_GetThisThreadState");
  find(found.current_state, "_PyThreadState_UncheckedGet", "PyThreadState_GetUnchecked");
  find(found.first_state, "PyInterpreterState_ThreadHead");
  find(found.next_state, "PyThreadState_Next");
  find(found.set_profile, "_PyEval_SetProfile");
  find(found.line_of, "PyCode_Addr2Line");
  find(found.take_error, "PyErr_Fetch");
  find(found.set_error, "PyErr_Restore");
  find(found.length, "PySequence_Size");
  find(found.item, "PySequence_GetItem");
  find(found.is_subtype, "PyType_IsSubtype");
  find(found.function_type, "PyCFunction_Type");
  find(found.bound_type, "PyCMethod_Type");
  find(found.method_type, "PyMethodDescr_Type");
  find(found.module_type, "PyModule_Type");
  the_api = found;
  return true;
}

bool has_gil() {
  if (the_api.own_state == nullptr || the_api.current_state == nullptr) return false;
  ThreadState* const own = the_api.own_state();
  return own != nullptr && own == the_api.current_state();
}

std::string text_of(Object* object, const char* attribute) {
  const Owned value(api().get_attribute(object, attribute));
  const char* const text = value.get() != nullptr ? api().text(value.get()) : nullptr;
  std::string copy = text != nullptr ? text : "";
  api().clear_error();
  return copy;
}

long number_of(Object* object, const char* attribute) {
  const Owned value(api().get_attribute(object, attribute));
  const long number = value.get() != nullptr ? api().integer(value.get()) : 0;
  api().clear_error();
  return number;
}

}  // namespace profshim::python
