
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hooks.h"
#include "inject/activation.h"
#include "inject/parent.h"
#include "inject/torch/activation.h"
#include "inject/torch/operators.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"

namespace profshim::cuda {
namespace {

constexpr const char* kVariable = "CUDA_INJECTION64_PATH";

/// The other tool that CUDA_INJECTION64_PATH names, or "".
constinit char foreign_owner[PATH_MAX] = {};
constinit std::atomic<bool> is_injected{false};
constinit std::atomic<bool> has_hooks_only{false};  // a hook saw CUDA, but InitializeInjection() did not run

void at_exit() { session::finish(session::End::kNormal); }

// at_exit() is registered after the exit handlers of the driver and CUPTI, so it runs before them.
void on_cupti_ready() { std::atexit(at_exit); }

void start_device(const Spec& spec) { device::start(spec, on_cupti_ready); }

void activate_if_ready() {
  if (!inject::know_process()) return;
  session::note_use(session::Use::kCuda);
  // A helper of a rank may use CUDA, too.
  if (inject::has_recording_parent() && inject::is_rank_of_parent(rank_from_environment())) return;
  if (torch::is_imported() && torch::waits_for_group()) return;
  inject::activate_by_environment(session::Use::kCuda, rank_from_environment());
}

/// True if this process may only count devices, as torchrun and the helpers of Lightning do, and leave the work to
/// processes with a rank.
bool may_be_launcher() { return torch::is_imported() && rank_from_environment().rank < 0; }

void on_injected() {
  is_injected.store(true);
  if (const Spec* const spec = session::spec()) {
    start_device(*spec);
  } else if (!may_be_launcher()) {
    activate_if_ready();
  }
}

/// Runs before the first CUDA call that does work.
void before_first_hooked_call() {
  if (is_injected.load() && session::spec() == nullptr) activate_if_ready();
}

void start_with_hooks_alone(const Spec& spec) {
  if (!spec.activities.cuda) return;
  if (foreign_owner[0] != 0) {
    recorder::missing("cuda", "this process uses CUDA, but its GPU activity is not recorded: another tool has CUDA");
    return;
  }
  recorder::missing("cuda",
                    "no GPU activity is recorded: CUDA did not load profshim from CUDA_INJECTION64_PATH; the "
                    "job must not change this variable");
  recorder::set_mode(recorder::kCudaCalls, 0);
}

/// Runs after the first CUDA call: the driver has opened the library in CUDA_INJECTION64_PATH. If that was not
/// profshim, only hooks record.
void after_first_hooked_call() {
  if (is_injected.load()) return;
  has_hooks_only.store(true);
  if (const Spec* const spec = session::spec()) {
    start_with_hooks_alone(*spec);
  } else {
    activate_if_ready();
  }
}

}  // namespace

void set_injection_path(const char* own_path) {
  on_first_call(before_first_hooked_call, after_first_hooked_call);
  const char* const set = std::getenv(kVariable);
  if (set == nullptr || set[0] == 0) {
    setenv(kVariable, own_path, 1);
    return;
  }
  char resolved[PATH_MAX];
  // A parent process may have set our path.
  if (std::strcmp(realpath(set, resolved) != nullptr ? resolved : set, own_path) == 0) return;
  std::strncpy(foreign_owner, set, sizeof foreign_owner - 1);
}

void on_activate() {
  const Spec* const spec = session::spec();
  if (spec == nullptr || !spec->activities.cuda) return;
  if (foreign_owner[0] != 0) {
    char sentence[PATH_MAX + 128];
    std::snprintf(sentence, sizeof sentence,
                  "no GPU activity is recorded: %s names another tool, %s (unset this variable)", kVariable,
                  foreign_owner);
    recorder::problem("cuda", sentence);
    recorder::set_mode(recorder::kCudaCalls, 0);
  }
  if (is_injected.load()) {
    start_device(*spec);
  } else if (has_hooks_only.load()) {
    start_with_hooks_alone(*spec);
  }
}

}  // namespace profshim::cuda

// The driver calls this inside cuInit. Always returns success: CUDA must work even if nothing can be recorded.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  const int saved_errno = errno;
  if (profshim::session::requested()) profshim::cuda::on_injected();
  errno = saved_errno;
  return 1;
}
