#include "native_frames.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "profshim/base/process/memory_map.h"
#include "profshim/base/threads/loader_lock.h"
#include "profshim/call_stack.h"
#include "profshim/recorder.h"

namespace profshim::recorder::native_frames {
namespace {

using Backtrace = int (*)(void** addresses, int most);
constinit std::atomic<Backtrace> backtrace{nullptr};

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};
constinit Range own_code;
constinit std::mutex one_at_a_time;  // defines modules

constexpr std::size_t kOwnFrames = 16;  // most frames of profshim in a stack

int find_own_code(dl_phdr_info* info, std::size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    const Range range{begin, begin + segment.p_memsz};
    if (!range.holds(reinterpret_cast<std::uintptr_t>(&find_own_code))) continue;
    own_code = range;
    return 1;
  }
  return 0;
}

}  // namespace

bool prepare(std::string& why_not) {
  void* const library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  const auto found = library != nullptr ? reinterpret_cast<Backtrace>(dlsym(library, "unw_backtrace")) : nullptr;
  if (found == nullptr) {
    why_not = "libunwind.so.8 was not found; install libunwind";
    return false;
  }
  visit_loaded_files(find_own_code, nullptr);
  backtrace.store(found, std::memory_order_release);
  return true;
}

std::size_t take(std::uint64_t* addresses, std::size_t most) {
  const Backtrace unwind = backtrace.load(std::memory_order_acquire);
  if (unwind == nullptr) return 0;
  void* found[call_stack::kMostFrames + kOwnFrames];
  const std::size_t wanted = std::min(most + kOwnFrames, std::size(found));
  const int n = [&] {
    const ForksWait libunwind_looks_for_files;
    return unwind(found, static_cast<int>(wanted));
  }();
  const auto is_own = [](void* address) { return own_code.holds(reinterpret_cast<std::uintptr_t>(address)); };
  // Behind the hook's own frames, frames of profshim are the return slots of phases (inject/symbol/returns.h).
  const auto end = std::remove_if(found, found + std::max(n, 0), is_own);
  const auto kept = std::min(most, static_cast<std::size_t>(end - found));
  std::transform(found, found + kept, addresses,
                 [](void* address) { return reinterpret_cast<std::uintptr_t>(address); });
  return kept;
}

void leave_parent() { new (&one_at_a_time) std::mutex; }

void define_modules() {
  if (backtrace.load(std::memory_order_acquire) == nullptr) return;
  static auto* const known =
      new std::set<std::pair<std::uint64_t, std::string>>;  // never destroyed: threads may run during exit
  const std::lock_guard lock(one_at_a_time);
  MemoryMapping first;
  each_mapping([&first](const MemoryMapping& mapping) {
    if (!mapping.path.starts_with('/')) return;
    // `first` begins at the module's base address.
    if (mapping.path != first.path || mapping.offset == 0) first = mapping;
    if (!mapping.is_executable || !known->emplace(mapping.begin, mapping.path).second) return;
    define(spool::DefinitionKind::kModule, 0, intern(mapping.path), 0,
           {static_cast<std::int64_t>(mapping.begin), static_cast<std::int64_t>(mapping.end),
            static_cast<std::int64_t>(mapping.offset), static_cast<std::int64_t>(first.begin)});
  });
}

}  // namespace profshim::recorder::native_frames
