#include "injection.h"

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
#include "inject/torch/activation.h"
#include "inject/torch/operators.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"

namespace profshim::cuda {
namespace {

constexpr const char* kVariable = "CUDA_INJECTION64_PATH";

/// The process that CUDA came up in; written by the constructor.
constinit char foreign_owner[PATH_MAX] = {};
constinit std::atomic<bool> cuda_is_up{false}, only_hooks_see_it{false};

void at_exit() { session::finish(session::End::kNormal); }

// Registered behind the driver's and CUPTI's own handlers, so that it runs before them.
void cupti_is_there() { std::atexit(at_exit); }

void start_device(const Spec& spec) { device::start(spec, cupti_is_there); }

void become_active() {
  if (torch::is_imported() && torch::waits_for_group()) return;
  inject::activate_by_environment(rank_from_environment());
}

void cuda_comes_up() {
  cuda_is_up.store(true);
  if (session::spec() == nullptr) {
    become_active();
  } else {
    start_device(*session::spec());
  }
}

void start_with_hooks_alone(const Spec& spec) {
  if (!spec.activities.cuda || foreign_owner[0] != 0) return;  // on_activate() has said it
  recorder::problem("cuda", "no GPU activity is recorded: CUDA did not open what CUDA_INJECTION64_PATH names");
  recorder::set_mode(recorder::kCudaCalls, 0);
}

/// A hook of ours has seen CUDA at work. By then the driver has opened what the variable names: if that was not us,
/// symbol hooks are all there is.
void cuda_is_used() {
  if (cuda_is_up.load()) return;
  only_hooks_see_it.store(true);
  if (session::spec() == nullptr) {
    become_active();
  } else {
    start_with_hooks_alone(*session::spec());
  }
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
  if (cuda_is_up.load()) {
    start_device(*spec);
  } else if (only_hooks_see_it.load()) {
    start_with_hooks_alone(*spec);
  }
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
