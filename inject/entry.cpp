// Where the loader and the end of the process meet us: constructor, activation, exits. In a process that is no recorded
// rank, this is all that ever runs.
#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "activation.h"
#include "cuda_injection.h"
#include "nccl_profiler.h"
#include "nvtx_injection.h"
#include "profshim/session.h"
#include "symbol_steps.h"
#include "torch_activation.h"
#include "torch_operators.h"

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
using KillFunction = int (*)(pid_t, int);
constinit std::atomic<ExitFunction> next_exit{nullptr}, next_Exit{nullptr};
constinit std::atomic<AbortFunction> next_abort{nullptr};
constinit std::atomic<KillFunction> next_kill{nullptr};

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

__attribute__((constructor)) void on_load() {
  next_exit = reinterpret_cast<ExitFunction>(dlsym(RTLD_NEXT, "_exit"));
  next_Exit = reinterpret_cast<ExitFunction>(dlsym(RTLD_NEXT, "_Exit"));
  next_abort = reinterpret_cast<AbortFunction>(dlsym(RTLD_NEXT, "abort"));
  next_kill = reinterpret_cast<KillFunction>(dlsym(RTLD_NEXT, "kill"));
  if (!session::requested()) return;
  log::note_stderr();
  reserve_active_slot();
  const char* const path = own_path();
  if (path == nullptr || an_ancestor_records) return;
  torch::note_start();
  nvtx::set_injection_path(path);
  cuda::set_injection_path(path);
  nccl::profiler::reserve_variable(path);
}

/// MPI will say who this process is: it is mapped, and has not been initialised or we would have seen it.
bool mpi_is_to_come() {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void*) {
               const char* const path = info->dlpi_name != nullptr ? info->dlpi_name : "";
               const char* const slash = std::strrchr(path, '/');
               const char* const name = slash != nullptr ? slash + 1 : path;
               for (const char* library :
                    {"libmpi.so", "libmpich.so", "libmpi_abi.so", "libmpi_cray.so", "libmpi-", "libmpich-"}) {
                 if (std::strncmp(name, library, std::strlen(library)) == 0) return 1;
               }
               return 0;
             },
             nullptr) != 0;
}

[[noreturn]] void leave(ExitFunction next, int status) {
  session::finish(session::End::kAbrupt);
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

/// As Python ends when it was interrupted, once everything else is over: a signal to itself that nobody catches. Not
/// what a handler of that signal does, where it is blocked: a handler may have come in between anything.
bool ends_this_process(pid_t pid, int signal) {
  if (signal != SIGINT || pid != getpid() || session::spec() == nullptr) return false;
  struct sigaction action {};
  sigset_t blocked;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL &&
         pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, signal) == 0;
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
    if (mpi_is_to_come()) return false;
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

PROFSHIM_EXPORT [[noreturn]] void _exit(int status) {
  profshim::inject::leave(profshim::inject::next_exit.load(std::memory_order_relaxed), status);
}

PROFSHIM_EXPORT [[noreturn]] void _Exit(int status) noexcept {
  profshim::inject::leave(profshim::inject::next_Exit.load(std::memory_order_relaxed), status);
}

PROFSHIM_EXPORT int kill(pid_t pid, int signal) noexcept {
  using namespace profshim;
  if (inject::ends_this_process(pid, signal)) {
    const int saved_errno = errno;
    session::finish(session::End::kAbrupt);
    errno = saved_errno;
  }
  const auto next = inject::next_kill.load(std::memory_order_relaxed);
  return next != nullptr ? next(pid, signal) : static_cast<int>(syscall(SYS_kill, pid, signal));
}

PROFSHIM_EXPORT [[noreturn]] void abort() noexcept {
  profshim::session::finish(profshim::session::End::kAbrupt);
  using profshim::inject::AbortFunction;
  auto next = profshim::inject::next_abort.load(std::memory_order_relaxed);
  // A library's constructor may abort before ours has run.
  if (next == nullptr) next = reinterpret_cast<AbortFunction>(dlsym(RTLD_NEXT, "abort"));
  if (next != nullptr) next();
  __builtin_trap();  // no other abort() in this process
}
