#include "steps.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "code_patch.h"
#include "profshim/base/memory_map.h"
#include "profshim/elf.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::symbol_steps {
namespace {

constexpr std::uint32_t kMaxSites = 64;  // a pattern that means more functions than that means no step

struct Module {
  std::string name;  // as the loader knows it, maybe relative to an earlier working folder; "" = the program
  std::string path;  // of the file, as the kernel says
  std::uint64_t bias = 0;
  std::uint64_t code_from = 0, code_to = 0;  // executable and readable
  std::uint64_t patched = 0;                 // an entry in it that we changed; 0 = none
  bool operator==(const Module& other) const { return name == other.name && bias == other.bias; }
};

struct State {
  std::mutex mutex;  // install() on the job's thread, rescan() on the collector
  std::string pattern;
  std::vector<Module> known;
  unsigned long long adds = 0, subs = 0;
  Report report;
  std::uint32_t facts = 0;
};
State& state() {  // never destroyed: the collector may outlive static destructors
  static auto* const one = new State;
  return *one;
}

/// What the trampolines say; written before the function is patched, constant afterwards.
constinit StringId site_names[kMaxSites] = {};
constinit std::uint32_t site_count = 0;

}  // namespace
}  // namespace profshim::symbol_steps

#if defined(__x86_64__)

extern "C" {
// Read by the routine below.
[[gnu::visibility("hidden")]] std::uint64_t profshim_state_bytes = 512;
[[gnu::visibility("hidden")]] std::uint32_t profshim_state_mask = 0;  // 0 = fxsave
[[gnu::visibility("hidden")]] void profshim_symbol_entry();

/// A hooked function has been entered, on whatever thread. All of the caller's registers are safe.
[[gnu::visibility("hidden"), gnu::used]] void profshim_symbol_entered(std::uint32_t index) noexcept {
  using namespace profshim;
  const int error = errno;
  spool::Thread* const thread = recorder::this_thread();
  if (thread != nullptr) {
    const recorder::LayerScope scope(*thread, Layer::kNone);
    if (scope.outermost()) {
      session::step_boundary(ticks(), std::nullopt, symbol_steps::site_names[index]);
    }
  }
  errno = error;
}
}

// Called from a trampoline with: return address into it, index, the function's own return address. Keeps every register
// that can carry an argument (integer, x87, SSE, AVX, AVX-512 by xsave) and the flags. Not ours any more (a forked
// child): returns at once.
__asm__(R"(
  .text
  .p2align 4
  .hidden profshim_symbol_entry
  .globl profshim_symbol_entry
  .type profshim_symbol_entry, @function
profshim_symbol_entry:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  pushfq
  cmpl $0, _ZN8profshim8recorder6detail4modeE(%rip)
  jne 1f
  popfq
  ret
1:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rbx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  cld
  movl 24(%rbp), %edi
  subq profshim_state_bytes(%rip), %rsp
  andq $-64, %rsp
  movl profshim_state_mask(%rip), %eax
  testl %eax, %eax
  je 2f
  xorl %edx, %edx
  movq %rdx, 512(%rsp)
  movq %rdx, 520(%rsp)
  movq %rdx, 528(%rsp)
  movq %rdx, 536(%rsp)
  movq %rdx, 544(%rsp)
  movq %rdx, 552(%rsp)
  movq %rdx, 560(%rsp)
  movq %rdx, 568(%rsp)
  xsave (%rsp)
  call profshim_symbol_entered
  movl profshim_state_mask(%rip), %eax
  xorl %edx, %edx
  xrstor (%rsp)
  jmp 3f
2:
  fxsave (%rsp)
  call profshim_symbol_entered
  fxrstor (%rsp)
3:
  leaq -80(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rbx
  popq %rdx
  popq %rcx
  popq %rax
  popq %rbp
  popfq
  ret
  .cfi_endproc
  .size profshim_symbol_entry, .-profshim_symbol_entry
)");

#endif

namespace profshim::symbol_steps {
namespace {

#if defined(__x86_64__)
void cpuid(unsigned leaf, unsigned part, unsigned (&r)[4]) {
  __asm__("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(part));
}

/// How much the routine has to save: x87, SSE, AVX and AVX-512 as far as this machine has them in use.
void choose_register_state() {
  constexpr std::uint32_t kArguments = 0xe7;
  unsigned r[4];
  cpuid(1, 0, r);
  if ((r[2] & (1U << 27)) == 0) return;  // no xgetbv: fxsave
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  std::uint64_t bytes = 512 + 64;
  for (unsigned feature = 2; feature < 8; ++feature) {
    if ((low & kArguments & (1U << feature)) == 0) continue;
    cpuid(0xd, feature, r);
    bytes = std::max<std::uint64_t>(bytes, r[0] + r[1]);
  }
  profshim_state_bytes = bytes;
  profshim_state_mask = low & kArguments;
}
const void* stub_target() { return reinterpret_cast<const void*>(&profshim_symbol_entry); }
#else
void choose_register_state() {}
const void* stub_target() { return nullptr; }
#endif

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

void say_hooked(const std::string& name, const Module& module) {
  State& s = state();
  ++s.report.hooked;
  log::line(LogLevel::kInfo, "steps: every call of %s in %s begins a step", name.c_str(), module.path.c_str());
  std::string key = "steps_symbol";
  if (++s.facts > 1) key += "_" + std::to_string(s.facts);
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern(key),
                   recorder::intern("{\"name\": " + quoted(name) + ", \"module\": " + quoted(module.path) + "}"));
}

void say_refused(const std::string& name, const Module& module, const std::string& reason) {
  ++state().report.refused;
  const std::string sentence = "calls of " + name + " in " + module.path + " are not seen as steps: " + reason;
  log::line(LogLevel::kWarn, "%s", sentence.c_str());
  recorder::problem("symbol", sentence);
}

// ---- modules
// ---------------------------------------------------------------------------------------------------------

/// Fills in the paths of the files: the mapping that holds a module's code names it.
void name_files(std::vector<Module>& modules) {
  each_mapping([&modules](const MemoryMapping& mapping) {
    if (!mapping.path.starts_with('/')) return;
    for (Module& module : modules) {
      if (mapping.begin <= module.code_from && module.code_from < mapping.end) module.path = mapping.path;
    }
  });
}

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& list = *static_cast<std::vector<Module>*>(to);
        Module module;
        module.name = info->dlpi_name != nullptr ? info->dlpi_name : "";
        module.bias = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || (segment.p_flags & PF_R) == 0) continue;
          module.code_from = info->dlpi_addr + segment.p_vaddr;
          module.code_to = module.code_from + segment.p_filesz;
        }
        if (module.code_to != 0) list.push_back(module);
        return 0;
      },
      &modules);
  name_files(modules);
  std::erase_if(modules, [](const Module& module) { return module.path.empty(); });  // the vdso
  return modules;
}

void counters(unsigned long long& adds, unsigned long long& subs) {
  unsigned long long both[2] = {};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto* const out = static_cast<unsigned long long*>(to);
        out[0] = info->dlpi_adds;
        out[1] = info->dlpi_subs;
        return 1;
      },
      both);
  adds = both[0];
  subs = both[1];
}

bool is_ours(const Module& module) {
  const auto here = reinterpret_cast<std::uint64_t>(&loaded_modules);
  return module.code_from <= here && here < module.code_to;
}

bool is_system(const Module& module) {
  const std::string name = module.path.substr(module.path.rfind('/') + 1);
  for (const char* const prefix : {"libc.so", "libc-2", "ld-linux", "ld-2", "ld.so", "libpthread", "libdl.so"}) {
    if (name.compare(0, std::strlen(prefix), prefix) == 0) return true;
  }
  return false;
}

// ---- functions
// -------------------------------------------------------------------------------------------------------

/// What an IFUNC was resolved to, with the size that the file gives for that address.
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
    return say_refused(name, module, "it is chosen at load time (IFUNC) and its implementation has no name");
  }
  if (!seen.insert(function.value).second) return;  // another name of the same function
  const elf::Code in_file = file.code_of(function);
  const elf::Code code{reinterpret_cast<const std::uint8_t*>(module.bias + function.value),
                       static_cast<std::size_t>(function.size), module.bias + function.value};
  if (code.size == 0) return say_refused(name, module, "the file does not say how long the function is");
  if (code.address < module.code_from || code.address + code.size > module.code_to) {
    return say_refused(name, module, "it is not in the code that is loaded");
  }
  if (in_file.bytes == nullptr || std::memcmp(in_file.bytes, code.bytes, code.size) != 0) {
    return say_refused(name, module,
                       "its code in memory is not that of the file: replaced on disk, or changed by a tool");
  }
  if (site_count == kMaxSites) return say_refused(name, module, "the pattern matches more than 64 functions");
  const std::uint32_t index = site_count++;
  site_names[index] = recorder::intern(name);
  std::string refusal;
  if (!code_patch::install(code, file, function, module.bias, stub_target(), index, refusal)) {
    --site_count;
    return say_refused(name, module, refusal);
  }
  module.patched = code.address;
  say_hooked(name, module);
}

/// Number of functions that matched, hooked or refused.
std::size_t scan(Module& module, const elf::SymbolPattern& pattern) {
  if (is_ours(module) || (is_system(module) && !pattern.exact())) return 0;
  // The handle keeps the library where it is while we are at work; it is not loaded by this.
  void* const handle = dlopen(module.name.empty() ? nullptr : module.name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return 0;  // gone again
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

/// Scans what is new, forgets what is gone.
std::size_t scan_new() {
  State& s = state();
  const elf::SymbolPattern pattern(s.pattern);
  const bool some_unloaded = [&s] {
    const unsigned long long before = s.subs;
    counters(s.adds, s.subs);
    return s.subs != before;
  }();
  std::size_t matched = 0;
  std::vector<Module> modules = loaded_modules();
  for (Module& module : modules) {
    const auto old = std::find(s.known.begin(), s.known.end(), module);
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

void say_not_found(const std::string& pattern) {
  std::vector<std::string> paths;
  for (const Module& module : state().known) {
    if (module.name.empty()) paths.push_back(module.path);  // the program
  }
  std::string sentence = "no function matches steps.pattern \"" + pattern +
                         "\" in what was loaded when the recording began: inlined, stripped, or in a library that is "
                         "loaded later";
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
    if (scan_new() == 0) say_not_found(s.pattern);
  } catch (const std::exception& fault) {
    log::line(LogLevel::kError, "steps: symbol: %s", fault.what());
  }
}

void rescan() {
  State& s = state();
  try {
    const std::lock_guard lock(s.mutex);
    if (s.pattern.empty()) return;
    unsigned long long adds = 0, subs = 0;
    counters(adds, subs);
    if (adds != s.adds || subs != s.subs) scan_new();
  } catch (const std::exception& fault) {
    log::line(LogLevel::kError, "steps: symbol: %s", fault.what());
  }
}

Report report() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.report;
}

}  // namespace profshim::symbol_steps
