#include "functions.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "code_patch.h"
#include "entry_routine.h"
#include "inject/core/loader/loaded_symbol.h"
#include "modules.h"
#include "profshim/elf.h"
#include "profshim/json/writer.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "profshim/trace/schema.h"
#include "returns.h"

namespace profshim::symbol {
namespace {

namespace step_symbol = schema::ours::step_symbol;

/// The functions that a pattern of the spec names.
struct Wanted {
  elf::SymbolPattern pattern;
  bool makes_steps;
  std::uint64_t phases;
  bool is_found = false;
};

struct State {
  std::mutex mutex;  // on_activate() runs on the job's thread, rescan() on the collector thread
  std::vector<Wanted> wanted;
  std::vector<Module> known;
  inject::LoadCounters counters;
  std::vector<std::pair<std::string, std::string>> hooked;  // steps: key and value of the metadata
};
State& state() {  // never destroyed: the collector may outlive static destructors
  static auto* const one = new State;
  return *one;
}

constinit std::uint32_t site_count = 0;

void report_hooked(const std::string& name, const Module& module, const Site& site) {
  if (site.phases != 0) log::line(LogLevel::kInfo, "phases: calls of %s in %s", name.c_str(), module.path.c_str());
  if (!site.is_step) return;
  log::line(LogLevel::kInfo, "steps: every call of %s in %s begins a step", name.c_str(), module.path.c_str());
  std::string key(step_symbol::kKeyStart);
  if (const std::size_t before = state().hooked.size(); before > 0) key += "_" + std::to_string(before + 1);
  JsonWriter json;
  json.open_object().member(step_symbol::kName, name).member(step_symbol::kModule, module.path);
  recorder::add_metadata(key, json.close_object().text());
  state().hooked.emplace_back(key, json.text());
}

void report(const std::string& sentence) {
  log::line(LogLevel::kWarn, "%s", sentence.c_str());
  recorder::problem("symbol", sentence);
}

void report_refused(const std::string& name, const Module& module, const Site& site, const std::string& reason) {
  report("function " + name + " in " + module.path + (site.is_step ? " begins no steps: " : " makes no phase: ") +
         reason +
         (site.is_step ? "; change steps.pattern or steps.source"
                       : "; change symbol, or put ranges of NVTX around the code"));
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

void hook(Module& module, void* handle, const elf::File& file, elf::Function function, Site site,
          std::set<std::uint64_t>& seen) {
  const std::string name = elf::demangled(function.name);
  const auto refuse = [&](const std::string& reason) { report_refused(name, module, site, reason); };
  if (function.ifunc && !resolve_ifunc(handle, file, module, function)) {
    return refuse("it is chosen at load time (IFUNC) and its implementation has no symbol");
  }
  if (!seen.insert(function.value).second) return;  // another name of the same function
  const elf::Code in_file = file.code_of(function);
  const elf::Code code{reinterpret_cast<const std::uint8_t*>(module.bias + function.value),
                       static_cast<std::size_t>(function.size), module.bias + function.value};
  if (code.size == 0) return refuse("its symbol has no size");
  if (code.address < module.code_from || code.address + code.size > module.code_to) {
    return refuse("it is outside the loaded code of its module");
  }
  if (in_file.bytes == nullptr || std::memcmp(in_file.bytes, code.bytes, code.size) != 0) {
    return refuse("its code in memory differs from the file: the file was replaced, or a tool changed the code");
  }
  if (site_count == kMaxSites) return refuse("the pattern matches more than 64 functions");
  if (session::makes_phase(site.phases)) {
    if (const std::string why_not = why_no_returns(); !why_not.empty()) return refuse(why_not);
  }
  const std::uint32_t index = site_count++;
  site.name = recorder::intern(name);
  sites[index] = site;
  std::string refusal;
  if (!code_patch::install(code, file, function, module.bias, stub_target(), index, refusal)) {
    --site_count;
    return refuse(refusal);
  }
  module.patched = code.address;
  report_hooked(name, module, site);
}

/// Returns what the patterns make of a function.
Site site_of(const std::string& name, bool is_of_system) {
  Site site;
  for (Wanted& wanted : state().wanted) {
    if ((is_of_system && !wanted.pattern.exact()) || !wanted.pattern.matches(name)) continue;
    wanted.is_found = true;
    site.is_step = site.is_step || wanted.makes_steps;
    site.phases |= wanted.phases;
  }
  return site;
}

void scan(Module& module) {
  const bool is_of_system = is_system(module);
  if (is_ours(module)) return;
  // The handle keeps the library mapped; RTLD_NOLOAD never loads it.
  void* const handle = dlopen(module.name.empty() ? nullptr : module.name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return;
  elf::File file;
  std::string why_not;
  if (file.open(module.path, why_not)) {
    std::set<std::uint64_t> seen;
    for (const elf::Function& function : file.functions()) {
      if (function.name.find(".cold") != std::string::npos) continue;
      const Site site = site_of(function.name, is_of_system);
      if (site.is_step || site.phases != 0) hook(module, handle, file, function, site, seen);
    }
  }
  dlclose(handle);
}

void scan_new() {
  State& s = state();
  const std::uint64_t unloads_before = s.counters.unloads;
  s.counters = inject::load_counters();
  const bool some_unloaded = s.counters.unloads != unloads_before;
  std::vector<Module> modules = loaded_modules();
  for (Module& module : modules) {
    const auto old = std::find(s.known.begin(), s.known.end(), module);
    // A module loaded again at the same address has lost its patch.
    const bool still_there =
        old != s.known.end() && !(some_unloaded && old->patched != 0 && !code_patch::is_patched(old->patched));
    if (still_there)
      module.patched = old->patched;
    else
      scan(module);
  }
  s.known = std::move(modules);
}

void report_no_match(const Wanted& wanted) {
  const std::string& pattern = wanted.pattern.text();
  std::vector<std::string> paths;
  for (const Module& module : state().known) {
    if (module.name.empty()) paths.push_back(module.path);
  }
  std::string sentence = std::string("no function matches ") + (wanted.makes_steps ? "steps.pattern" : "a phase's") +
                         " \"" + pattern +
                         "\" in the modules that were loaded when the recording began: the function is inlined, "
                         "stripped, or in a library that is loaded later";
  const std::vector<std::string> near = elf::nearest_names(paths, pattern);
  for (std::size_t i = 0; i < near.size(); ++i) sentence += (i == 0 ? "; nearest: " : ", ") + near[i];
  report(sentence);
}

std::vector<Wanted> wanted_functions() {
  std::vector<Wanted> all;
  const Spec* const spec = session::spec();
  if (spec != nullptr && spec->steps.source == StepSource::kSymbol)
    all.push_back({elf::SymbolPattern(spec->steps.pattern), true, 0});
  for (const session::PhasePattern& one : session::phase_patterns(PhaseSource::kSymbol))
    all.push_back({elf::SymbolPattern(one.pattern), false, one.phases});
  return all;
}

constexpr const char* kFailed = "functions that make steps or phases may be missed: %s";

/// Patches modules loaded since the last scan. Cheap if nothing was loaded.
void rescan() {
  try {
    const std::lock_guard lock(state().mutex);
    if (inject::load_counters() != state().counters) scan_new();
  } catch (const std::exception& fault) {
    log::line(LogLevel::kError, kFailed, fault.what());
  }
}

}  // namespace

void leave_parent() { new (&state().mutex) std::mutex; }  // a thread of the parent may have held it

void on_activate() {
  try {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const bool has_patches = !s.known.empty();
    if (!has_patches) s.wanted = wanted_functions();
    if (s.wanted.empty()) return;
    for (const auto& [key, json] : s.hooked) recorder::add_metadata(key, json);
    choose_register_state();
    scan_new();
    for (const Wanted& wanted : s.wanted) {
      if (!wanted.is_found && !has_patches) report_no_match(wanted);
    }
    session::call_every_tick(rescan);
  } catch (const std::exception& fault) {
    log::line(LogLevel::kError, kFailed, fault.what());
  }
}

}  // namespace profshim::symbol
