#include "abi.h"

#include <dlfcn.h>

#include <cstdio>

namespace profshim::python {
namespace {

constinit Api the_api;

template <class Function>
void find(Function& function, const char* name, const char* newer_name = nullptr) {
  void* address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr && newer_name != nullptr) address = dlsym(RTLD_DEFAULT, newer_name);
  function = reinterpret_cast<Function>(address);
}

}  // namespace

bool find_api(Api& found) {
  const char* (*version)() = nullptr;
  find(version, "Py_GetVersion");
  find(found.is_initialized, "Py_IsInitialized");
  if (version == nullptr || found.is_initialized == nullptr || found.is_initialized() == 0) return false;
  unsigned major = 0, minor = 0;
  if (std::sscanf(version(), "%u.%u", &major, &minor) != 2) return false;
  found.version = major << 8 | minor;
  find(found.add_pending_call, "Py_AddPendingCall");
  find(found.main_interpreter, "PyInterpreterState_Main");
  find(found.get_eval_frame, "_PyInterpreterState_GetEvalFrameFunc");
  find(found.set_eval_frame, "_PyInterpreterState_SetEvalFrameFunc");
  find(found.request_code_extra, "_PyEval_RequestCodeExtraIndex");
  find(found.get_code_extra, "_PyCode_GetExtra");
  find(found.set_code_extra, "_PyCode_SetExtra");
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
  found.none = static_cast<Object*>(dlsym(RTLD_DEFAULT, "_Py_NoneStruct"));
  find(found.import, "PyImport_ImportModule");
  find(found.call_method, "PyObject_CallMethod", "_PyObject_CallMethod_SizeT");
  find(found.make_function, "PyCFunction_NewEx");
  the_api = found;
  return true;
}

const Api& api() { return the_api; }

}  // namespace profshim::python
