#include "profshim/ending_signals.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "cpu_limit.h"
#include "profshim/base/clock.h"
#include "profshim/base/threads/take_flag.h"

namespace profshim::ending_signals {
namespace {

// Not SIGQUIT: it asks for a core dump at once.
constexpr std::array kCaught = {SIGHUP,  SIGINT,    SIGUSR1, SIGUSR2, SIGALRM,
                                SIGTERM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ};
// Launchers repeat a signal within this time. A later signal ends the process at once.
constexpr std::int64_t kOneRequest_ns = 1'000'000'000;
// The thread that ends the recording gives up after `limit`. If it is stuck, the process ends this much later.
constexpr std::int64_t kLastResort_ns = 1'000'000'000;
constexpr std::size_t kKernelSetBytes = 8;

using Action = struct sigaction;
using ActionFunction = int (*)(int, const Action*, Action*);
constinit std::atomic<ActionFunction> next_action{nullptr};  // the C library's sigaction(), not our hook
constinit std::atomic<pid_t> owner{0};
// end() clears `catching`, then its caller loads first_signal. The handler stores first_signal, then loads `catching`.
// All are sequentially consistent: at least one thread sees the other's store.
constinit std::atomic<bool> catching{false};
constinit std::atomic<std::int64_t> limit{0};
constinit std::atomic<std::int64_t> first_at{0};
constinit std::atomic<int> first_signal{0};
constinit siginfo_t first_info{};                // valid once first_signal is set
constinit Action jobs_own[kCaught.size()] = {};  // guarded by `locked`
constinit std::atomic_flag locked = ATOMIC_FLAG_INIT;

// Returns without the lock after 100 ms: the handler may have interrupted the holder, or a longjmp() out of a handler
// kept the lock.
void lock() {
  constexpr std::int64_t kLongest_ns = 100'000'000;
  take_flag(locked, kLongest_ns);
}
void unlock() { locked.clear(std::memory_order_release); }

/// Blocks all signals: a signal handler of the job may call sigaction(), too.
class Locked {
 public:
  Locked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    lock();
  }
  ~Locked() {
    unlock();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  sigset_t before_;
};

void on_signal(int signal, siginfo_t* info, void* context);

bool is_ours(const Action& action) { return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal; }

int exchange(int signal, const Action* action, Action* old) { return next_action.load()(signal, action, old); }

int index_of(int signal) {
  const auto* const found = std::find(kCaught.begin(), kCaught.end(), signal);
  return found == kCaught.end() ? -1 : static_cast<int>(found - kCaught.begin());
}

sigset_t caught_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kCaught) sigaddset(&set, signal);
  return set;
}

// The caller holds the lock.
void catch_if_default(int index) {
  Action now{};
  const int signal = kCaught[static_cast<std::size_t>(index)];
  if (exchange(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;
  jobs_own[index] = now;
  Action ours{};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  exchange(signal, &ours, nullptr);
}

// For SYS_rt_sigaction: the C library's sigaction() would add SA_RESTORER, which the job could see.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

void give_back(int index) {
  Action now{};
  const int signal = kCaught[static_cast<std::size_t>(index)];
  if (exchange(signal, nullptr, &now) != 0 || !is_ours(now)) return;
  const Action& own = jobs_own[index];
  KernelAction plain{SIG_DFL, static_cast<unsigned long>(static_cast<unsigned>(own.sa_flags)), own.sa_restorer, 0};
  std::memcpy(&plain.mask, &own.sa_mask, sizeof plain.mask);
  syscall(SYS_rt_sigaction, signal, &plain, nullptr, kKernelSetBytes);
}

/// Passes `info` on to a core dump.
void die_of(int signal, siginfo_t* info) {
  Action plain{};
  plain.sa_handler = SIG_DFL;
  exchange(signal, &plain, nullptr);
  const pid_t pid = getpid();
  const long tid = syscall(SYS_gettid);
  if (info == nullptr || info->si_signo != signal || syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info) != 0) {
    syscall(SYS_tgkill, pid, tid, signal);
  }
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

void die_of_the_first(int signal) {
  const int first = first_signal.load();
  die_of(first != 0 ? first : signal, first != 0 ? &first_info : nullptr);
}

// Makes the kernel send `signal` again if the ending thread is stuck. The C library's timer_create() allocates.
void set_last_resort(int signal) {
  struct sigevent event {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  int timer = 0;
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return;
  const std::int64_t after = limit.load() + kLastResort_ns;
  itimerspec at{};
  at.it_value.tv_sec = after / 1'000'000'000;
  at.it_value.tv_nsec = after % 1'000'000'000;
  syscall(SYS_timer_settime, timer, 0, &at, nullptr);
}

// Near the hard limit on CPU time, the kernel ends the job by the default action of SIGXCPU.
void spare_cpu_time() {
  cpu_limit::spare_time();
  if (cpu_limit::send_last_signal()) give_back(index_of(SIGXCPU));
}

void note(int signal, const siginfo_t& info) {
  std::int64_t none = 0;
  if (!first_at.compare_exchange_strong(none, monotonic_ns())) return;
  first_info = info;
  first_signal.store(signal);
  set_last_resort(signal);
  if (signal == SIGXCPU && info.si_code == SI_KERNEL) spare_cpu_time();
}

/// True if limit + kLastResort_ns has passed, `signal` (0 = none) is a second request, or no CPU time is left. The
/// thread that ends the recording gives up earlier, and says so.
bool is_over(int signal) {
  const std::int64_t age = monotonic_ns() - first_at.load();
  constexpr std::array kRepeatThemselves = {SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ};
  const bool repeats_itself =
      std::find(kRepeatThemselves.begin(), kRepeatThemselves.end(), signal) != kRepeatThemselves.end();
  if (signal != 0 && !repeats_itself && age > kOneRequest_ns) return true;
  return age >= limit.load() + kLastResort_ns || cpu_limit::left_ns(false) < cpu_limit::kLastReserve_ns;
}

/// True if the signal interrupted a system call. If the handler returned, the call could fail and the job run on.
bool waits_in_the_kernel(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  if (machine.gregs[REG_RAX] == -EINTR) return true;
  const auto* const next = reinterpret_cast<const unsigned char*>(machine.gregs[REG_RIP]);
  return next[0] == 0x0f && next[1] == 0x05;  // restarted: the next instruction is "syscall"
#elif defined(__aarch64__)
  if (static_cast<std::int64_t>(machine.regs[0]) == -EINTR) return true;
  return *reinterpret_cast<const std::uint32_t*>(machine.pc) == 0xd4000001;  // "svc #0"
#else
  (void)machine;
  return true;
#endif
}

/// A process that signals itself does not expect to run on. SIGXFSZ looks as if its thread had sent it.
bool is_sent_by_itself(const siginfo_t& info) {
  const bool by_a_process = info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
  return by_a_process && info.si_pid == getpid();
}

void hold() {
  const sigset_t caught = caught_set();
  const timespec pause{0, 50'000'000};
  for (;;) {
    siginfo_t info{};
    const long got = syscall(SYS_rt_sigtimedwait, &caught, &info, &pause, kKernelSetBytes);
    const int signal = got > 0 ? static_cast<int>(got) : 0;
    if (!catching.load() || is_over(signal)) return die_of_the_first(signal);
  }
}

// Other threads run on: one may hold a lock (malloc, CUDA driver) that the writer needs.
void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (getpid() != owner.load()) {
    die_of(signal, info);
  } else {
    note(signal, *info);
    if (!catching.load() || is_over(signal)) {
      die_of_the_first(signal);
    } else if (waits_in_the_kernel(context) || is_sent_by_itself(*info)) {
      hold();
    }
  }
  errno = saved_errno;
}

}  // namespace

void begin(std::int64_t limit_ns) {
  if (getpid() == 1) return;
  next_action = reinterpret_cast<ActionFunction>(dlsym(RTLD_NEXT, "sigaction"));
  if (next_action.load() == nullptr) return;
  limit = limit_ns;
  owner = getpid();
  const Locked locked_here;
  catching = true;
  for (std::size_t i = 0; i < kCaught.size(); ++i) catch_if_default(static_cast<int>(i));
}

void end() {
  if (owner.load() != getpid()) return;
  const Locked locked_here;
  catching = false;
  for (std::size_t i = 0; i < kCaught.size(); ++i) give_back(static_cast<int>(i));
}

void end_in_child() {
  if (owner.load() == 0) return;
  for (std::size_t i = 0; i < kCaught.size(); ++i) give_back(static_cast<int>(i));
}

void leave_parent() {
  end_in_child();
  owner = 0;
  catching = false;
  first_at = 0;
  first_signal = 0;
  locked.clear();
}

int arrived() { return first_signal.load(); }
std::int64_t arrived_at_ns() { return first_at.load(); }

void end_process() {
  const Locked locked_here;
  die_of_the_first(SIGTERM);
}

Blocked::Blocked() {
  sigset_t none;
  sigemptyset(&none);
  sigemptyset(&ours_);
  pthread_sigmask(SIG_BLOCK, &none, &before_);
  if (owner.load() != getpid()) return;
  for (const int signal : kCaught) {
    Action now{};
    const bool free = sigismember(&before_, signal) == 0;
    if (free && exchange(signal, nullptr, &now) == 0 && is_ours(now)) sigaddset(&ours_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &ours_, nullptr);
}

Blocked::~Blocked() { pthread_sigmask(SIG_UNBLOCK, &ours_, nullptr); }

bool Blocked::look() const {
  bool is_over_now = false;
  const timespec at_once{};
  for (siginfo_t info{};;) {
    const long got = syscall(SYS_rt_sigtimedwait, &ours_, &info, &at_once, kKernelSetBytes);
    if (got <= 0) return is_over_now;
    const int signal = static_cast<int>(got);
    note(signal, info);
    is_over_now = is_over_now || is_over(signal);
  }
}

StepAside::StepAside(int signal) {
  const int index = index_of(signal);
  const pid_t process = owner.load(std::memory_order_acquire);
  if (index < 0 || process == 0) return;
  // A child takes no lock: it shares this memory (vfork), or a thread that it lacks holds its copy of the lock.
  if (process != getpid()) {
    give_back(index);
    return;
  }
  // Leaves the blocked state of `signal` alone: sigset() reads and changes it.
  sigset_t others;
  sigfillset(&others);
  pthread_sigmask(SIG_BLOCK, nullptr, &before_);
  if (sigismember(&before_, signal) == 0) sigdelset(&others, signal);
  pthread_sigmask(SIG_SETMASK, &others, nullptr);
  lock();
  signal_ = signal;
  give_back(index);
}

StepAside::~StepAside() {
  if (signal_ == 0) return;
  const int saved_errno = errno;
  if (catching.load()) catch_if_default(index_of(signal_));
  unlock();
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  sigismember(&now, signal_) == 1 ? sigaddset(&before_, signal_) : sigdelset(&before_, signal_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = saved_errno;
}

}  // namespace profshim::ending_signals
