#include "quiet_child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace profshim::write {
namespace {

constexpr std::size_t kStack = 64 << 10;
constexpr int kPipe = 3;
constexpr std::size_t kMostText = 256;

/// Shared with the children, which run in our memory until execve(), while the caller waits: they only make system
/// calls.
struct Start {
  char* const* arguments;
  char* const* environment;
  int output, pipe;
  char* stack_of_second;
  volatile int error;
};

void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  const long most = sysconf(_SC_OPEN_MAX);
  for (long fd = first; fd < most && fd < 65536; ++fd) close(static_cast<int>(fd));
}

void reset_signals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// `output` and `pipe` are above 3.
bool place_descriptors(const Start& start) {
  const int null = open("/dev/null", O_RDONLY);
  if (null < 0 || dup2(null, 0) < 0 || dup2(start.output, 1) < 0 || dup2(start.output, 2) < 0) return false;
  if (dup2(start.pipe, kPipe) < 0) return false;
  close_from(kPipe + 1);
  return true;
}

int run_second(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  setsid();
  reset_signals();
  if (place_descriptors(start)) execve(start.arguments[0], start.arguments, start.environment);
  start.error = errno;
  _exit(127);
}

// The second child loses its parent at once, so that its end is reported to init instead of the job.
int run_first(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  const int pid = clone(run_second, start.stack_of_second, CLONE_VM | CLONE_VFORK, &start);
  if (pid < 0) start.error = errno;
  _exit(0);
}

/// The job may rely on low numbers, and the child needs those up to kPipe.
int moved_high(int fd) {
  constexpr int kHigh[] = {512, kPipe + 1};
  int moved = -1;
  for (const int least : kHigh) {
    if (moved < 0) moved = fcntl(fd, F_DUPFD_CLOEXEC, least);
  }
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

std::vector<char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int QuietChild::start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                      int output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  Descriptor read(moved_high(ends[0])), write(moved_high(ends[1]));
  struct stat pipe {};
  if (!read || !write || fstat(read.get(), &pipe) != 0) return errno;
  const std::vector<char*> argument_pointers = pointers_of(arguments), environment_pointers = pointers_of(environment);
  void* const stacks =
      mmap(nullptr, 2 * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return errno;
  char* const stack = static_cast<char*>(stacks);
  Start start{argument_pointers.data(), environment_pointers.data(), output, write.get(), stack + 2 * kStack, 0};
  int error = 0;
  {
    const NoSignals no_handler_runs_in_a_child;
    // No exit signal: the job's wait() does not see this child, nor does it get SIGCHLD.
    const int pid = clone(run_first, stack + kStack, CLONE_VM | CLONE_VFORK, &start);
    if (pid < 0) error = errno;
    while (pid > 0 && waitpid(pid, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  }
  munmap(stacks, 2 * kStack);
  if (error == 0) error = start.error;
  if (error != 0) return error;
  fcntl(read.get(), F_SETFL, O_NONBLOCK);
  pipe_ = std::move(read);
  device_ = pipe.st_dev;
  inode_ = pipe.st_ino;
  text_.clear();
  return 0;
}

std::optional<std::string> QuietChild::poll() {
  if (!pipe_) return text_;
  struct stat now {};
  if (fstat(pipe_.get(), &now) != 0 || now.st_dev != device_ || now.st_ino != inode_) {
    pipe_.release();
    text_ = kLostPipe;
    return text_;
  }
  char bytes[kMostText];
  for (;;) {
    const ssize_t count = ::read(pipe_.get(), bytes, sizeof bytes);
    if (count > 0) {
      text_.append(bytes, std::min(static_cast<std::size_t>(count), kMostText - std::min(kMostText, text_.size())));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return std::nullopt;
    pipe_ = Descriptor();
    return text_;
  }
}

}  // namespace profshim::write
