#include "functions.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "profshim/base/glob.h"
#include "profshim/python/calls.h"
#include "profshim/python/stack.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::python::calls {
namespace {

// Guarded by the GIL.
constinit std::intptr_t extra_index = -1;
constinit Object* module_call = nullptr;  // code of torch.nn.Module.__call__
constinit const Spec* spec = nullptr;

std::vector<std::string>& search_path() {
  static auto* const path = new std::vector<std::string>;
  return *path;
}

std::uint32_t number_of_address(const void* address) {
  const auto word = reinterpret_cast<std::uintptr_t>(address) >> 4;
  return static_cast<std::uint32_t>(word ^ word >> 30) % (profshim::python_calls::kLost - 1) + 1;
}

std::string without_folder(const std::string& file) {
  for (const std::string& folder : search_path()) {
    if (file.starts_with(folder)) return file.substr(folder.size());
  }
  return file;
}

bool is_left_out(const std::string& file) {
  const auto matches = [&file](const std::string& pattern) { return glob_match(pattern, file); };
  const auto has = [&](const auto& patterns) { return std::any_of(patterns.begin(), patterns.end(), matches); };
  return (!spec->python_include.empty() && !has(spec->python_include)) || has(spec->python_exclude);
}

/// Imports nothing: sys.modules has the module of a function that is called.
Object* find_module_call() {
  Object* const modules = api().from_sys("modules");
  Object* const module = modules != nullptr ? api().get_item(modules, "torch.nn.modules.module") : nullptr;
  const Owned type(module != nullptr ? api().get_attribute(module, "Module") : nullptr);
  const Owned call(type.get() != nullptr ? api().get_attribute(type.get(), "__call__") : nullptr);
  Object* const code = call.get() != nullptr ? api().get_attribute(call.get(), "__code__") : nullptr;
  api().clear_error();
  return code;
}

bool is_module_call(Object* code, const std::string& file, const std::string& name) {
  if (!file.ends_with("torch/nn/modules/module.py") || name.find("call") == std::string::npos) return false;
  if (module_call == nullptr) module_call = find_module_call();
  return code == module_call;
}

[[gnu::noinline]] const CodeFunction* add_code(Object* code) {
  const std::string file = text_of(code, "co_filename");
  auto* const function = new CodeFunction{without_folder(file), text_of(code, "co_name"), number_of_address(code),
                                          is_left_out(file), false};
  function->is_module_call = is_module_call(code, file, function->name);
  if (function->is_module_call) function->is_left_out = false;
  if (api().set_code_extra(code, extra_index, function) == 0) return function;
  api().clear_error();
  delete function;
  return nullptr;
}

}  // namespace

const char* prepare_functions() {
  const Api& python = api();
  if (python.request_code_extra == nullptr || python.get_code_extra == nullptr || python.set_code_extra == nullptr) {
    return "this Python does not export the functions that mark code objects";
  }
  if (python.line_of == nullptr || python.from_sys == nullptr || python.length == nullptr || python.item == nullptr ||
      python.is_subtype == nullptr || python.function_type == nullptr || python.bound_type == nullptr ||
      python.method_type == nullptr || python.module_type == nullptr) {
    return "this Python does not export all functions of its C API";
  }
  spec = session::spec();
  if (spec == nullptr) return "the recording has ended";
  extra_index = python.request_code_extra(nullptr);
  return extra_index < 0 ? "Python has no room for a mark in its code objects" : nullptr;
}

void read_search_path() {
  std::vector<std::string> folders;
  Object* const path = api().from_sys("path");
  const std::intptr_t count = path != nullptr ? api().length(path) : 0;
  for (std::intptr_t i = 0; i < count; ++i) {
    const Owned entry(api().item(path, i));
    const char* const text = entry.get() != nullptr ? api().text(entry.get()) : nullptr;
    if (text == nullptr) continue;
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::absolute(text, error).lexically_normal();
    if (!error && folder != "/") folders.push_back(folder.string() + (folder.has_filename() ? "/" : ""));
  }
  api().clear_error();
  std::sort(folders.begin(), folders.end(), std::greater<>());  // the longer of two folders first
  search_path() = std::move(folders);
}

const CodeFunction* of_code(Object* code) {
  void* extra = nullptr;
  api().get_code_extra(code, extra_index, &extra);
  return __builtin_expect(extra != nullptr, 1) ? static_cast<const CodeFunction*>(extra) : add_code(code);
}

BuiltIn built_in_of(Object* callable, Object* first) {
  // Source: Include/cpython/methodobject.h and descrobject.h; the same in 3.10 to 3.14.
  constexpr std::size_t kFunctionMethod = 16, kFunctionSelf = 24, kDescriptorMethod = 40;
  const auto at = [callable](std::size_t offset) {
    void* pointer = nullptr;
    std::memcpy(&pointer, reinterpret_cast<const char*>(callable) + offset, sizeof pointer);
    return pointer;
  };
  Object* const type = type_of(callable);
  if (type == api().method_type) {
    return first != nullptr ? BuiltIn{at(kDescriptorMethod), first} : BuiltIn{};
  }
  if (type != api().function_type && type != api().bound_type) return {};
  return {at(kFunctionMethod), static_cast<Object*>(at(kFunctionSelf))};
}

StringId name_of(const BuiltIn& function) {
  static auto* const names = new std::unordered_map<const void*, StringId>;
  const auto [at, is_new] = names->try_emplace(function.method, 0);
  if (!is_new) return at->second;
  const char* method_name = nullptr;
  std::memcpy(&method_name, function.method, sizeof method_name);  // ml_name
  char text[512];
  const bool has_object = function.self != nullptr && api().is_subtype(type_of(function.self), api().module_type) == 0;
  if (has_object) {
    const char* type_name = nullptr;
    constexpr std::size_t kTypeName = 24;  // tp_name
    std::memcpy(&type_name, reinterpret_cast<const char*>(type_of(function.self)) + kTypeName, sizeof type_name);
    std::snprintf(text, sizeof text, "<built-in method %s of %s object at %p>", method_name, type_name,
                  static_cast<void*>(function.self));
  } else {
    std::snprintf(text, sizeof text, "<built-in function %s>", method_name);
  }
  return at->second = recorder::intern(text);
}

std::uint32_t number_of(const BuiltIn& function) { return number_of_address(function.method); }

}  // namespace profshim::python::calls
