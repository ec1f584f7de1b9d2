// While recording, profshim replaces some default signal actions (profshim/ending_signals.h). These hooks restore the
// default during the job's call, so that its effect stays the same.
#include <signal.h>

#include <cerrno>
#include <initializer_list>

#include "inject/core/loader/real_function.h"
#include "inject/core/macros.h"
#include "profshim/ending_signals.h"

namespace profshim::inject {
namespace {

using Handler = void (*)(int);
using ActionFunction = int (*)(int, const struct sigaction*, struct sigaction*);
using SignalFunction = Handler (*)(int, Handler);
using InterruptFunction = int (*)(int, int);

constinit NextFunction<ActionFunction> next_sigaction("sigaction"), next_internal_sigaction("__sigaction");
constinit NextFunction<SignalFunction> next_signal("signal"), next_ssignal("ssignal"), next_bsd_signal("bsd_signal"),
    next_sysv_signal("sysv_signal"), next_internal_sysv_signal("__sysv_signal"), next_sigset("sigset");
constinit NextFunction<InterruptFunction> next_siginterrupt("siginterrupt");

__attribute__((constructor)) void look_up() {
  next_sigaction.get();
  next_internal_sigaction.get();
  for (auto* next :
       {&next_signal, &next_ssignal, &next_bsd_signal, &next_sysv_signal, &next_internal_sysv_signal, &next_sigset}) {
    next->get();
  }
  next_siginterrupt.get();
}

int call_action(NextFunction<ActionFunction>& next, int signal, const struct sigaction* action, struct sigaction* old) {
  const ActionFunction function = next.get();
  if (function == nullptr) return errno = ENOSYS, -1;
  const ending_signals::StepAside aside(signal);
  return function(signal, action, old);
}

Handler call_signal(NextFunction<SignalFunction>& next, int signal, Handler handler) {
  const SignalFunction function = next.get();
  if (function == nullptr) return errno = ENOSYS, SIG_ERR;
  const ending_signals::StepAside aside(signal);
  return function(signal, handler);
}

}  // namespace
}  // namespace profshim::inject

using namespace profshim::inject;

PROFSHIM_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return call_action(next_sigaction, signal, action, old);
}
PROFSHIM_EXPORT int __sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return call_action(next_internal_sigaction, signal, action, old);
}
PROFSHIM_EXPORT Handler signal(int number, Handler handler) noexcept {
  return call_signal(next_signal, number, handler);
}
PROFSHIM_EXPORT Handler ssignal(int number, Handler handler) noexcept {
  return call_signal(next_ssignal, number, handler);
}
PROFSHIM_EXPORT Handler bsd_signal(int number, Handler handler) noexcept {
  return call_signal(next_bsd_signal, number, handler);
}
PROFSHIM_EXPORT Handler sysv_signal(int number, Handler handler) noexcept {
  return call_signal(next_sysv_signal, number, handler);
}
PROFSHIM_EXPORT Handler __sysv_signal(int number, Handler handler) noexcept {
  return call_signal(next_internal_sysv_signal, number, handler);
}
PROFSHIM_EXPORT Handler sigset(int number, Handler handler) noexcept {
  return call_signal(next_sigset, number, handler);
}
PROFSHIM_EXPORT int siginterrupt(int number, int flag) noexcept {
  const InterruptFunction function = next_siginterrupt.get();
  if (function == nullptr) return errno = ENOSYS, -1;
  const profshim::ending_signals::StepAside aside(number);
  return function(number, flag);
}
