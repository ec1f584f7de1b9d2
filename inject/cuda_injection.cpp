#include "cuda_injection.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "activation.h"
#include "cuda_hooks.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"

namespace profshim::cuda {
namespace {

constexpr const char* kVariable = "CUDA_INJECTION64_PATH";

/// Whose CUDA it is; written by the constructor.
constinit char foreign_owner[PATH_MAX] = {};
constinit std::atomic<bool> cuda_is_up{false};

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

void at_exit() { session::finish(session::End::kNormal); }

void start_device(const Spec& spec) {
  device::start(spec);
  // Registered behind the driver's and CUPTI's own handlers, so that it runs before them.
  if (device::available()) std::atexit(at_exit);
}

/// Whether this is a rank is known now, or MPI_Init will tell: CUDA may come up before it.
void activate_by_environment() {
  Rank rank = rank_from_environment();
  if (rank.rank < 0) {
    if (mpi_is_to_come()) return;
    rank.rank = 0;
    rank.world_size = 1;
    rank.local_rank = 0;
    rank.local_world_size = 1;
    rank.source = "single process";
  }
  inject::activate(rank, 0);  // comes back through on_activate()
}

void cuda_comes_up() {
  cuda_is_up.store(true);
  if (session::spec() == nullptr) {
    activate_by_environment();
  } else {
    start_device(*session::spec());
  }
}

/// A hook of ours has seen CUDA at work. By then the driver has opened what the variable names: if that was not us,
/// symbol hooks are all there is.
void cuda_is_used() {
  if (cuda_is_up.load()) return;
  if (session::spec() == nullptr) activate_by_environment();
  const Spec* const spec = session::spec();
  if (spec == nullptr || !spec->activities.cuda || foreign_owner[0] != 0) return;  // on_activate() has said it
  recorder::problem("cuda", "no GPU activity is recorded: CUDA did not open what CUDA_INJECTION64_PATH names");
  recorder::set_mode(recorder::kCudaCalls, 0);
}

}  // namespace

void set_injection_path(const char* own_path) {
  on_first_call(cuda_is_used);
  const char* const set = std::getenv(kVariable);
  if (set == nullptr || set[0] == 0) {
    setenv(kVariable, own_path, 1);
    return;
  }
  char resolved[PATH_MAX];
  if (std::strcmp(realpath(set, resolved) != nullptr ? resolved : set, own_path) == 0) return;  // a parent's work
  std::strncpy(foreign_owner, set, sizeof foreign_owner - 1);
}

void on_activate() {
  const Spec* const spec = session::spec();
  if (spec == nullptr || !spec->activities.cuda) return;
  if (foreign_owner[0] != 0) {
    char sentence[PATH_MAX + 128];
    std::snprintf(sentence, sizeof sentence, "no GPU activity is recorded: %s belongs to %s", kVariable, foreign_owner);
    recorder::problem("cuda", sentence);
    recorder::set_mode(recorder::kCudaCalls, 0);
  }
  if (cuda_is_up.load()) start_device(*spec);
}

}  // namespace profshim::cuda

// The driver calls this once, on the thread that is inside cuInit, before it looks for devices. What it answers decides
// nothing: a recording that cannot be had is no reason for CUDA to fail.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  const int saved_errno = errno;
  if (profshim::session::requested()) profshim::cuda::cuda_comes_up();
  errno = saved_errno;
  return 1;
}
