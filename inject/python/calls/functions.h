// The functions that are called: names and numbers. All functions need the GIL and no exception set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inject/python/abi.h"
#include "profshim/event.h"

namespace profshim::python::calls {

/// One for each code object. Never freed: CallSites outlive code objects.
struct CodeFunction {
  std::string file;      // without the folder of sys.path
  std::string name;      // co_name
  std::uint32_t number;  // see python_calls::CallSite::function
  bool is_left_out;      // by capture.python_include or python_exclude
  bool is_module_call;   // torch.nn.Module.__call__
};

/// Returns a reason if code objects cannot be marked, else null. Call once, before of_code().
const char* prepare_functions();
/// Reads sys.path again: file names in traces have no folder of it, as in PyTorch's.
void read_search_path();

/// Null if there is no memory for the mark.
const CodeFunction* of_code(Object* code);

/// A function that is written in C.
struct BuiltIn {
  const void* method;  // PyMethodDef; null = not a built-in function
  Object* self;        // null, a module, or the object of a method
};
/// `first`: the first argument, of which a method that is not bound yet is a method; or null.
BuiltIn built_in_of(Object* callable, Object* first);
/// As repr() returns it: "<built-in method append of list object at 0x7fd2358>". The address is that of the first call.
StringId name_of(const BuiltIn& function);
std::uint32_t number_of(const BuiltIn& function);

}  // namespace profshim::python::calls
