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

#include "computed.h"
#include "inject/activation.h"
#include "inject/core/loader/real_dlsym.h"
#include "inject/core/loader/resolve.h"
#include "inject/core/macros.h"
#include "inject/cuda/hooks.h"
#include "inject/lookup/bindings.h"
#include "inject/lookup/unhooked.h"
#include "inject/mpi/lifecycle.h"
#include "inject/nccl/call.h"
#include "inject/nccl/profiler.h"
#include "inject/nvtx/callbacks/injection.h"
#include "inject/nvtx/callbacks/ranges.h"
#include "inject/parent.h"
#include "inject/python/calls/calls.h"
#include "inject/python/functions.h"
#include "inject/start_gate.h"
#include "inject/symbol/functions.h"
#include "inject/torch/activation.h"
#include "inject/torch/operators.h"
#include "profshim/base/process/process_words.h"
#include "profshim/base/text/number_text.h"
#include "profshim/base/threads/loader_lock.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"

namespace profshim::inject {
namespace {

using ExitFunction = void (*)(int);
using AbortFunction = void (*)();
constinit std::atomic<ExitFunction> next_exit{nullptr}, next_Exit{nullptr}, next_normal_exit{nullptr},
    next_quick_exit{nullptr};
constinit std::atomic<AbortFunction> next_abort{nullptr};

// CUDA, NVTX and NCCL open this path, and so get this instance of the library.
const char* own_path() {
  static char path[4096];
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return realpath(info.dli_fname, path);
}

bool begins_with_any(const char* path, const char* const* beginnings, std::size_t count) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  return std::any_of(beginnings, beginnings + count, [name](const char* beginning) {
    return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
  });
}

const char* mapped_library(bool (*is_wanted)(const char*)) {
  struct Search {
    bool (*is_wanted)(const char*);
    const char* found;
  } search{is_wanted, nullptr};
  visit_loaded_files(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& looking = *static_cast<Search*>(argument);
        if (info->dlpi_name == nullptr || !looking.is_wanted(info->dlpi_name)) return 0;
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        looking.found = slash != nullptr ? slash + 1 : info->dlpi_name;
        return 1;
      },
      &search);
  return search.found;
}

bool is_device_library(const char* path) {
  static constexpr const char* kNames[] = {"libtorch_cpu.so", "libnccl.so", "libcudart.so", "libcuda.so"};
  return begins_with_any(path, kNames, std::size(kNames));
}

bool needs_mpi(const dl_phdr_info& object) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
  }
  if (dynamic == nullptr) return false;
  const char* texts = nullptr;  // glibc has made DT_STRTAB an address, except in the vdso
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr > object.dlpi_addr)
      texts = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  if (texts == nullptr) return false;
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && is_mpi_library(texts + entry->d_un.d_val)) return true;
  return false;
}

/// True with Debian's PyTorch since 2.6. If true, only PyTorch's MPI backend calls MPI_Init.
bool only_pytorch_needs_mpi() {
  struct Needed {
    bool by_pytorch = false, by_others = false;
  } needed;
  visit_loaded_files(
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

/// Returns the library whose MPI_Init will tell the rank, or null. Call only before activation.
const char* pending_mpi() {
  const char* const library = mapped_library(is_mpi_library);
  return library != nullptr && !only_pytorch_needs_mpi() ? library : nullptr;
}

pid_t loaded_by = 0;

/// Warns if this process looks like an unrecorded rank. A process that had children may be a launcher.
void warn_if_never_activated() {
  rusage children{};
  const bool alone = getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0;
  if (getpid() != loaded_by || has_recording_parent() || session::spec() != nullptr) return;
  const char* library = pending_mpi();
  const char* const for_devices = mapped_library(is_device_library);
  if (library == nullptr && rank_from_environment().rank >= 0) library = for_devices;
  if (library == nullptr && alone) library = unhooked_library();
  if (library == nullptr) {
    // A program that only imports PyTorch may be a helper of the job.
    const bool is_job = for_devices == nullptr && !has_parent();
    if (is_job && has_computed(alone, !has_loaded_ancestor())) session::report_nothing_used();
  } else if (alone) {
    report_unhooked();
    session::report_never_activated(library);
  }
}

__attribute__((constructor)) void on_load() {
  next_exit = reinterpret_cast<ExitFunction>(next_symbol("_exit"));
  next_Exit = reinterpret_cast<ExitFunction>(next_symbol("_Exit"));
  next_normal_exit = reinterpret_cast<ExitFunction>(next_symbol("exit"));
  next_quick_exit = reinterpret_cast<ExitFunction>(next_symbol("quick_exit"));
  next_abort = reinterpret_cast<AbortFunction>(next_symbol("abort"));
  if (!session::requested()) return;
  clear_words_in_children();
  make_forks_wait();
  log::note_stderr();
  note_parent();
  const char* const path = own_path();
  if (path == nullptr) return;
  loaded_by = getpid();
  std::atexit(warn_if_never_activated);
  nvtx::set_injection_path(path);
  cuda::set_injection_path(path);
  nccl::profiler::reserve_variable(path);
  if (session::may_begin_at_start() && session::note_use(session::Use::kStart))
    activate_by_environment(session::Use::kStart, rank_from_environment());
}

[[noreturn]] void leave(ExitFunction next, int status) {
  session::finish(session::End::kAbrupt);
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

/// Another library's constructor may end the process before on_load().
ExitFunction known_or_next(const std::atomic<ExitFunction>& known, const char* name) {
  const ExitFunction function = known.load(std::memory_order_relaxed);
  return function != nullptr ? function : reinterpret_cast<ExitFunction>(next_symbol(name));
}

/// A handler may call exit() while another thread is in exit(): glibc then skips the function that this thread runs,
/// and would end the process in the middle of its last trace.
void await_other_exit() {
  if (session::spec() == nullptr) session::finish(session::End::kNormal);
}

/// The rank of a process that has not used a library of process.require_any yet. Replaced ranks are not freed: another
/// thread may read them.
constinit std::atomic<const Rank*> told_rank{nullptr};

void remember(session::Use use, const Rank& rank) {
  const bool is_better = use == session::Use::kMpi || told_rank.load(std::memory_order_relaxed) == nullptr;
  if (rank.rank >= 0 && is_better) told_rank.store(new Rank(rank), std::memory_order_release);
}

}  // namespace

void activate(session::Use use, const Rank& rank, Ticks began) {
  if (!session::requested() || !know_process()) return;
  if (!session::note_use(use)) return remember(use, rank);
  const ClosedGate gate;
  if (!gate.is_ours()) return;
  const Rank* const told = use == session::Use::kMpi ? nullptr : told_rank.load(std::memory_order_acquire);
  session::activate(told != nullptr ? *told : rank, began);
  const Spec* const spec = session::spec();
  if (spec == nullptr) return;
  tell_children_recording();
  if (hooks_lookups()) rebind_new_files(nullptr);
  report_unhooked();
  // MPI began in the parent, and works in no child of it.
  if (is_forked() && use != session::Use::kMpi && mpi::mpi_was_seen()) recorder::set_mode(0, recorder::kMpi);
  nvtx::on_activate();
  cuda::on_activate();
  torch::on_activate();
  python::on_activate();
  python::record_calls();
  symbol::on_activate();
}

void leave_parent() {
  told_rank = nullptr;
  open_gate_in_child();
  session::leave_parent();
  nvtx::leave_parent();
  nccl::leave_parent();
  torch::leave_parent();
  python::leave_parent();
  symbol::leave_parent();
}

bool activate_by_environment(session::Use use, Rank rank) {
  const bool is_told = rank.rank >= 0 || told_rank.load(std::memory_order_relaxed) != nullptr;
  if (!is_told && session::note_use(use)) {
    if (pending_mpi() != nullptr) return false;
    rank.rank = 0;
    rank.world_size = 1;
    rank.local_rank = 0;
    rank.local_world_size = 1;
    rank.source = "single process";
  }
  activate(use, rank, 0);
  return true;
}

}  // namespace profshim::inject

// _exit, _Exit and abort run no atexit handlers, so their hooks write the traces. Those of exit and quick_exit wait for
// threads that already end the process.

PROFSHIM_EXPORT void _exit(int status) {
  profshim::inject::leave(profshim::inject::next_exit.load(std::memory_order_relaxed), status);
}

PROFSHIM_EXPORT void _Exit(int status) noexcept {
  profshim::inject::leave(profshim::inject::next_Exit.load(std::memory_order_relaxed), status);
}

PROFSHIM_EXPORT void exit(int status) noexcept {
  using namespace profshim::inject;
  await_other_exit();
  if (const auto next = known_or_next(next_normal_exit, "exit")) next(status);
  __builtin_trap();
}

PROFSHIM_EXPORT void quick_exit(int status) noexcept {
  using namespace profshim::inject;
  profshim::session::finish(profshim::session::End::kAbrupt);
  if (const auto next = known_or_next(next_quick_exit, "quick_exit")) next(status);
  __builtin_trap();
}

PROFSHIM_EXPORT void abort() noexcept {
  profshim::session::finish(profshim::session::End::kAbrupt);
  using profshim::inject::AbortFunction;
  auto next = profshim::inject::next_abort.load(std::memory_order_relaxed);
  // Another library's constructor may call abort() before on_load().
  if (next == nullptr) next = reinterpret_cast<AbortFunction>(profshim::inject::next_symbol("abort"));
  if (next != nullptr) next();
  __builtin_trap();
}
