// Where the loader and the end of the process meet us: constructor, activation, exits. In a process that is no recorded
// rank, this is all that ever runs.
#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "activation.h"
#include "inject/cuda/injection.h"
#include "inject/nccl/profiler/profiler.h"
#include "inject/nvtx/injection.h"
#include "inject/symbol/steps.h"
#include "inject/torch/activation.h"
#include "inject/torch/operators.h"
#include "profshim/session.h"

#define PROFSHIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace profshim::inject {
namespace {

// Rewritten in place at activation: children that inherit the environment then know that their parent records.
// "0" = nobody yet; below 0: a process that waits for what shows its rank.
constexpr std::size_t kPrefix = sizeof("PROFSHIM_ACTIVE=") - 1;
char active_slot[kPrefix + 24] = "PROFSHIM_ACTIVE=0";
bool an_ancestor_records = false, an_ancestor_waits = false;

using ExitFunction = void (*)(int);
using AbortFunction = void (*)();
constinit std::atomic<ExitFunction> next_exit{nullptr}, next_Exit{nullptr};
constinit std::atomic<AbortFunction> next_abort{nullptr};

// The path that CUDA and NVTX open must lead to this very file: another copy would be a second instance.
const char* own_path() {
  static char path[4096];
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return realpath(info.dli_fname, path);
}

void reserve_active_slot() {
  if (const char* const inherited = std::getenv("PROFSHIM_ACTIVE")) {
    const long pid = std::strtol(inherited, nullptr, 10);
    // Our own number: this program was exec()ed by a rank that recorded.
    an_ancestor_records = pid > 0 && pid != getpid();
    an_ancestor_waits = pid < 0 && pid != -getpid();
    if (an_ancestor_waits) std::snprintf(active_slot + kPrefix, sizeof active_slot - kPrefix, "%ld", pid);
    if (an_ancestor_records) return;
  }
  putenv(active_slot);
}

bool begins_with_any(const char* path, const char* const* beginnings, std::size_t count) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  return std::any_of(beginnings, beginnings + count, [name](const char* beginning) {
    return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
  });
}

/// The first library that is mapped and has a name that begins like one of these; null when none is.
template <std::size_t N>
const char* mapped_library(const char* const (&beginnings)[N]) {
  struct Search {
    const char* const* beginnings;
    const char* found;
  } search{beginnings, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& looking = *static_cast<Search*>(argument);
        if (info->dlpi_name == nullptr || !begins_with_any(info->dlpi_name, looking.beginnings, N)) return 0;
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        looking.found = slash != nullptr ? slash + 1 : info->dlpi_name;
        return 1;
      },
      &search);
  return search.found;
}

constexpr const char* kMpiLibraries[] = {"libmpi.so",      "libmpich.so", "libmpi_abi.so",
                                         "libmpi_cray.so", "libmpi-",     "libmpich-"};
constexpr const char* kDeviceLibraries[] = {"libtorch_cpu.so", "libnccl.so", "libcudart.so", "libcuda.so"};

bool needs_mpi(const dl_phdr_info& object) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
  }
  if (dynamic == nullptr) return false;
  const char* texts = nullptr;  // glibc has made an address of it, but for the kernel's own object
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr > object.dlpi_addr)
      texts = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  if (texts == nullptr) return false;
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED &&
        begins_with_any(texts + entry->d_un.d_val, kMpiLibraries, std::size(kMpiLibraries)))
      return true;
  return false;
}

/// PyTorch and its gloo: Debian links both with MPI since 2.6, for a backend that hardly anybody asks for.
bool only_pytorch_needs_mpi() {
  struct Needed {
    bool by_pytorch = false, by_others = false;
  } needed;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        static constexpr const char* kPyTorch[] = {"libtorch", "libc10", "libgloo"};
        if (info->dlpi_name == nullptr || !needs_mpi(*info)) return 0;
        auto& found = *static_cast<Needed*>(argument);
        (begins_with_any(info->dlpi_name, kPyTorch, std::size(kPyTorch)) ? found.by_pytorch : found.by_others) = true;
        return 0;
      },
      &needed);
  return needed.by_pytorch && !needed.by_others;
}

/// MPI will say who this process is: it is mapped, and has not been initialised or we would have seen it. Null when
/// not.
const char* mpi_to_come() {
  const char* const library = mapped_library(kMpiLibraries);
  return library != nullptr && !only_pytorch_needs_mpi() ? library : nullptr;
}

pid_t loaded_by = 0;

/// A process with MPI, or one that was given a rank and has PyTorch, NCCL or CUDA, is a job's. One that started others
/// may be their launcher.
void say_if_never_activated() {
  rusage children{};
  const bool alone = getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0;
  if (getpid() != loaded_by || !alone || session::spec() != nullptr) return;
  const char* library = mpi_to_come();
  if (library == nullptr && rank_from_environment().rank >= 0) {
    library = mapped_library(kDeviceLibraries);
  }
  if (library != nullptr) session::say_never_activated(library);
}

__attribute__((constructor)) void on_load() {
  next_exit = reinterpret_cast<ExitFunction>(dlsym(RTLD_NEXT, "_exit"));
  next_Exit = reinterpret_cast<ExitFunction>(dlsym(RTLD_NEXT, "_Exit"));
  next_abort = reinterpret_cast<AbortFunction>(dlsym(RTLD_NEXT, "abort"));
  if (!session::requested()) return;
  log::note_stderr();
  reserve_active_slot();
  const char* const path = own_path();
  if (path == nullptr || an_ancestor_records) return;
  loaded_by = getpid();
  std::atexit(say_if_never_activated);
  torch::note_start();
  nvtx::set_injection_path(path);
  cuda::set_injection_path(path);
  nccl::profiler::reserve_variable(path);
}

[[noreturn]] void leave(ExitFunction next, int status) {
  session::finish(session::End::kAbrupt);
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

void activate(const Rank& rank, Ticks began) {
  if (an_ancestor_records || !session::requested()) return;
  session::activate(rank, began);
  const Spec* const spec = session::spec();
  if (spec == nullptr) return;
  std::snprintf(active_slot + kPrefix, sizeof active_slot - kPrefix, "%d", static_cast<int>(getpid()));
  nvtx::on_activate();
  cuda::on_activate();
  torch::on_activate();
  if (spec->steps.source == StepSource::kSymbol) {
    symbol_steps::install(spec->steps.pattern.c_str());
    session::call_every_tick(symbol_steps::rescan);
  }
}

void note_waiting() {
  std::snprintf(active_slot + kPrefix, sizeof active_slot - kPrefix, "-%d", static_cast<int>(getpid()));
}

bool parent_waits() { return an_ancestor_waits; }

bool activate_by_environment(Rank rank) {
  if (rank.rank < 0) {
    if (mpi_to_come() != nullptr) return false;
    rank.rank = 0;
    rank.world_size = 1;
    rank.local_rank = 0;
    rank.local_world_size = 1;
    rank.source = "single process";
  }
  activate(rank, 0);
  return true;
}

}  // namespace profshim::inject

// ---- the ends that run no atexit handler
// -----------------------------------------------------------------------------

PROFSHIM_EXPORT void _exit(int status) {
  profshim::inject::leave(profshim::inject::next_exit.load(std::memory_order_relaxed), status);
}

PROFSHIM_EXPORT void _Exit(int status) noexcept {
  profshim::inject::leave(profshim::inject::next_Exit.load(std::memory_order_relaxed), status);
}

PROFSHIM_EXPORT void abort() noexcept {
  profshim::session::finish(profshim::session::End::kAbrupt);
  using profshim::inject::AbortFunction;
  auto next = profshim::inject::next_abort.load(std::memory_order_relaxed);
  // A library's constructor may abort before ours has run.
  if (next == nullptr) next = reinterpret_cast<AbortFunction>(dlsym(RTLD_NEXT, "abort"));
  if (next != nullptr) next();
  __builtin_trap();  // no other abort() in this process
}
