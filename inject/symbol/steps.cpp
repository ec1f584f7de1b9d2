#include "steps.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "code_patch.h"
#include "entry_routine.h"
#include "modules.h"
#include "profshim/elf.h"
#include "profshim/json/writer.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "trace/schema.h"

namespace profshim::symbol_steps {
namespace {

namespace step_symbol = schema::ours::step_symbol;

struct State {
  std::mutex mutex;  // install() runs on the job's thread, rescan() on the collector thread
  std::string pattern;
  std::vector<Module> known;
  LoadCounters counters;
  std::uint32_t hooked = 0;
};
State& state() {  // never destroyed: the collector may outlive static destructors
  static auto* const one = new State;
  return *one;
}

constinit std::uint32_t site_count = 0;

void report_hooked(const std::string& name, const Module& module) {
  log::line(LogLevel::kInfo, "steps: every call of %s in %s begins a step", name.c_str(), module.path.c_str());
  std::string key(step_symbol::kKeyStart);
  if (const std::uint32_t n = ++state().hooked; n > 1) key += "_" + std::to_string(n);
  JsonWriter json;
  json.open_object().member(step_symbol::kName, name).member(step_symbol::kModule, module.path);
  recorder::add_metadata(key, json.close_object().text());
}

void report_refused(const std::string& name, const Module& module, const std::string& reason) {
  const std::string sentence = "function " + name + " in " + module.path + " begins no steps: " + reason +
                               "; change steps.pattern or steps.source";
  log::line(LogLevel::kWarn, "%s", sentence.c_str());
  recorder::problem("symbol", sentence);
}

/// Replaces an IFUNC by the function that its resolver chose.
bool resolve_ifunc(void* handle, const elf::File& file, const Module& module, elf::Function& function) {
  void* const address = function.exported ? dlsym(handle, function.name.c_str()) : nullptr;
  const std::uint64_t value = reinterpret_cast<std::uint64_t>(address) - module.bias;
  for (const elf::Function& candidate : file.functions()) {
    if (address != nullptr && !candidate.ifunc && candidate.value == value && candidate.size != 0) {
      function = candidate;
      return true;
    }
  }
  return false;
}

void hook(Module& module, void* handle, const elf::File& file, elf::Function function, std::set<std::uint64_t>& seen) {
  const std::string name = elf::demangled(function.name);
  if (function.ifunc && !resolve_ifunc(handle, file, module, function)) {
    return report_refused(name, module, "it is chosen at load time (IFUNC) and its implementation has no symbol");
  }
  if (!seen.insert(function.value).second) return;  // another name of the same function
  const elf::Code in_file = file.code_of(function);
  const elf::Code code{reinterpret_cast<const std::uint8_t*>(module.bias + function.value),
                       static_cast<std::size_t>(function.size), module.bias + function.value};
  if (code.size == 0) return report_refused(name, module, "its symbol has no size");
  if (code.address < module.code_from || code.address + code.size > module.code_to) {
    return report_refused(name, module, "it is outside the loaded code of its module");
  }
  if (in_file.bytes == nullptr || std::memcmp(in_file.bytes, code.bytes, code.size) != 0) {
    return report_refused(
        name, module, "its code in memory differs from the file: the file was replaced, or a tool changed the code");
  }
  if (site_count == kMaxSites) return report_refused(name, module, "the pattern matches more than 64 functions");
  const std::uint32_t index = site_count++;
  site_names[index] = recorder::intern(name);
  std::string refusal;
  if (!code_patch::install(code, file, function, module.bias, stub_target(), index, refusal)) {
    --site_count;
    return report_refused(name, module, refusal);
  }
  module.patched = code.address;
  report_hooked(name, module);
}

std::size_t scan(Module& module, const elf::SymbolPattern& pattern) {
  if (is_ours(module) || (is_system(module) && !pattern.exact())) return 0;
  // The handle keeps the library mapped; RTLD_NOLOAD never loads it.
  void* const handle = dlopen(module.name.empty() ? nullptr : module.name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return 0;
  std::size_t matched = 0;
  elf::File file;
  std::string why_not;
  if (file.open(module.path, why_not)) {
    std::set<std::uint64_t> seen;
    for (const elf::Function& function : file.functions()) {
      if (function.name.find(".cold") != std::string::npos || !pattern.matches(function.name)) continue;
      ++matched;
      hook(module, handle, file, function, seen);
    }
  }
  dlclose(handle);
  return matched;
}

std::size_t scan_new() {
  State& s = state();
  const elf::SymbolPattern pattern(s.pattern);
  const std::uint64_t unloads_before = s.counters.unloads;
  s.counters = load_counters();
  const bool some_unloaded = s.counters.unloads != unloads_before;
  std::size_t matched = 0;
  std::vector<Module> modules = loaded_modules();
  for (Module& module : modules) {
    const auto old = std::find(s.known.begin(), s.known.end(), module);
    // A module loaded again at the same address has lost its patch.
    const bool still_there =
        old != s.known.end() && !(some_unloaded && old->patched != 0 && !code_patch::is_patched(old->patched));
    if (still_there)
      module.patched = old->patched;
    else
      matched += scan(module, pattern);
  }
  s.known = std::move(modules);
  return matched;
}

void report_no_match(const std::string& pattern) {
  std::vector<std::string> paths;
  for (const Module& module : state().known) {
    if (module.name.empty()) paths.push_back(module.path);
  }
  std::string sentence = "no function matches steps.pattern \"" + pattern +
                         "\" in the modules that were loaded when the recording began: the function is inlined, "
                         "stripped, or in a library that is loaded later";
  const std::vector<std::string> near = elf::nearest_names(paths, pattern);
  for (std::size_t i = 0; i < near.size(); ++i) sentence += (i == 0 ? "; nearest: " : ", ") + near[i];
  log::line(LogLevel::kWarn, "%s", sentence.c_str());
  recorder::problem("symbol", sentence);
}

}  // namespace

void install(const char* pattern) {
  State& s = state();
  try {
    const std::lock_guard lock(s.mutex);
    s.pattern = pattern;
    choose_register_state();
    if (scan_new() == 0) report_no_match(s.pattern);
  } catch (const std::exception& fault) {
    log::line(LogLevel::kError, "steps.source = \"symbol\" failed, steps may be missing: %s", fault.what());
  }
}

void rescan() {
  State& s = state();
  try {
    const std::lock_guard lock(s.mutex);
    if (s.pattern.empty()) return;
    if (load_counters() != s.counters) scan_new();
  } catch (const std::exception& fault) {
    log::line(LogLevel::kError, "steps.source = \"symbol\" failed, steps may be missing: %s", fault.what());
  }
}

}  // namespace profshim::symbol_steps
