#include "inject/start_gate.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "profshim/base/clock.h"
#include "profshim/recorder.h"
#include "unit/spool_fixture.h"

namespace profshim::inject {
namespace {

constexpr std::int64_t kDeadline_ns = 60'000'000'000;

bool eventually(const std::atomic<bool>& condition) {
  const std::int64_t until = monotonic_ns() + kDeadline_ns;
  while (!condition.load() && monotonic_ns() < until) std::this_thread::yield();
  return condition.load();
}

/// A thread that comes to the gate.
class Comer {
 public:
  Comer()
      : thread_([this] {
          has_come_ = true;
          await_recording();
          gate_ = detail::gate.load();
          has_passed_ = true;
        }) {
    eventually(has_come_);
  }
  ~Comer() { thread_.join(); }
  Comer(const Comer&) = delete;
  Comer& operator=(const Comer&) = delete;
  bool passes() const { return eventually(has_passed_); }
  /// The state of the gate when this thread had passed.
  detail::Gate gate() const { return gate_.load(); }
  void signal() { pthread_kill(thread_.native_handle(), SIGUSR1); }

 private:
  std::atomic<bool> has_come_{false}, has_passed_{false};
  std::atomic<detail::Gate> gate_{detail::Gate::kClosed};
  std::thread thread_;
};

std::atomic<bool> has_handled{false};

void come_in_handler(int) {
  await_recording();
  has_handled = true;
}

/// While it lives, a handler of SIGUSR1 comes to the gate.
class ComingHandler {
 public:
  ComingHandler() {
    has_handled = false;
    struct sigaction action {};
    action.sa_handler = come_in_handler;
    sigaction(SIGUSR1, &action, &before_);
  }
  ~ComingHandler() { sigaction(SIGUSR1, &before_, nullptr); }
  ComingHandler(const ComingHandler&) = delete;
  ComingHandler& operator=(const ComingHandler&) = delete;

 private:
  struct sigaction before_ {};
};

class StartGate : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(16); }
  void TearDown() override {
    open_gate_in_child();
    SpoolFixture::TearDown();
  }
  static std::uint64_t lost() { return recorder::header().early_lost.load(); }
};

TEST_F(StartGate, IsOpenWhileNoRecordingBegins) {
  await_recording();

  EXPECT_EQ(lost(), 0u);
}

TEST_F(StartGate, OtherThreadsWaitUntilTheRecordingHasBegun) {
  auto gate = std::make_unique<ClosedGate>();
  const Comer comer;

  gate.reset();

  EXPECT_TRUE(comer.passes());
  EXPECT_EQ(comer.gate(), detail::Gate::kOpen);
  EXPECT_EQ(lost(), 0u);
}

TEST_F(StartGate, TheThreadThatBeginsTheRecordingPasses) {
  const ComingHandler handler;
  {
    const ClosedGate gate;

    await_recording();
    raise(SIGUSR1);

    EXPECT_TRUE(gate.is_ours());
    EXPECT_TRUE(has_handled);
    EXPECT_EQ(detail::gate.load(), detail::Gate::kClosed);
  }
  EXPECT_EQ(lost(), 0u);
}

TEST_F(StartGate, AThreadThatNeverFinishesKeepsNoOtherForEver) {
  {
    const ClosedGate gate;
    const Comer first, second;

    EXPECT_TRUE(first.passes());
    EXPECT_TRUE(second.passes());
  }
  EXPECT_EQ(lost(), 2u);
}

TEST_F(StartGate, AThreadThatHasEndedKeepsNoOtherForEver) {
  const ClosedGate* left = nullptr;
  std::thread([&left] { left = new ClosedGate; }).join();
  const Comer comer;

  EXPECT_TRUE(comer.passes());

  delete left;
}

TEST_F(StartGate, AHandlerOfAWaitingThreadWaitsNoLonger) {
  const ComingHandler handler;
  auto gate = std::make_unique<ClosedGate>();
  Comer comer;
  comer.signal();

  gate.reset();

  EXPECT_TRUE(eventually(has_handled));
  EXPECT_TRUE(comer.passes());
  EXPECT_EQ(comer.gate(), detail::Gate::kOpen);
}

TEST_F(StartGate, AWaitKeepsErrno) {
  auto gate = std::make_unique<ClosedGate>();
  std::atomic<bool> has_come{false};
  int error = 0;
  std::thread waiting([&] {
    errno = EDOM;
    has_come = true;
    await_recording();
    error = errno;
  });
  eventually(has_come);

  gate.reset();
  waiting.join();

  EXPECT_EQ(error, EDOM);
}

TEST_F(StartGate, ANestedBeginLeavesItClosed) {
  const auto gate = std::make_unique<ClosedGate>();
  bool is_nested_ours = true;
  {
    const ClosedGate nested;
    is_nested_ours = nested.is_ours();
  }

  EXPECT_TRUE(gate->is_ours());
  EXPECT_FALSE(is_nested_ours);
  EXPECT_EQ(detail::gate.load(), detail::Gate::kClosed);
}

TEST_F(StartGate, ASecondThreadDoesNotBeginTheRecordingAsWell) {
  const ClosedGate gate;
  bool is_ours = true;

  std::thread([&is_ours] { is_ours = ClosedGate().is_ours(); }).join();

  EXPECT_FALSE(is_ours);
}

TEST_F(StartGate, AChildOfAForkMayBeginItsOwnRecording) {
  auto gate = std::make_unique<ClosedGate>();
  int status = -1;
  std::thread([&status] {
    const pid_t child = fork();
    if (child == 0) {
      open_gate_in_child();
      await_recording();
      const ClosedGate own;
      _exit(own.is_ours() ? 0 : 1);
    }
    waitpid(child, &status, 0);
  }).join();

  EXPECT_EQ(status, 0);
  EXPECT_EQ(detail::gate.load(), detail::Gate::kClosed);
}

TEST_F(StartGate, EventsWhileMpiBeginsAreCountedAsLost) {
  announce_recording(true);
  await_recording();
  await_recording();

  { const ClosedGate gate; }

  EXPECT_EQ(lost(), 2u);
}

TEST_F(StartGate, EventsBeforeAFailedBeginAreForgotten) {
  announce_recording(true);
  await_recording();
  announce_recording(false);

  { const ClosedGate gate; }

  EXPECT_EQ(lost(), 0u);
}

}  // namespace
}  // namespace profshim::inject
