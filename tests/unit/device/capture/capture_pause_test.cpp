// All kinds stay on between two windows.
#include <set>

#include "capture_fixture.h"

namespace profshim::device {
namespace {

class CapturePause : public CaptureTest {
 protected:
  CapturePause() {
    cupti_.add(call(1));
    cupti_.add(kernel(1));
    cupti_.deliver();
    request_.again = true;
    switch_off();
    serve(kSecond);
  }

  void deliver_kernel(std::uint32_t correlation) {
    cupti::KernelRecord record = kernel(correlation);
    record.start = ticks();
    record.end = record.start + 10;
    cupti_.add(record);
    cupti_.deliver();
  }
  std::size_t kernels() const { return out_.of(HookId::kKernel).size(); }

  const std::set<std::uint32_t> all_ = cupti_.kinds;
};

TEST_P(CapturePause, DiscardsRecordsUntilTheNextWindow) {
  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->settled_until(), Capture::kEverything);
  EXPECT_GT(all_.size(), 5u);
  EXPECT_EQ(kernels(), 1u);
  deliver_kernel(2);
  serve();
  EXPECT_EQ(kernels(), 1u);

  deliver_kernel(3);
  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.kinds, all_);
  deliver_kernel(4);
  flush();
  EXPECT_EQ(kernels(), 2u) << "those of both windows";
  EXPECT_EQ(cupti_.kernel_enables, 1);
  EXPECT_EQ(capture_->converter().losses(), Losses{});
}

// The buffer with the first kernel of the window began long before.
TEST_P(CapturePause, LeavesOutRecordsOfABufferThatBeganInThePause) {
  cupti::KernelRecord old = kernel(2);
  old.start = begin_ > 30 * kSecond ? begin_ - 30 * kSecond : 1;
  old.end = old.start + 10;
  cupti_.add(old);
  request_.on = true;
  serve();
  deliver_kernel(3);
  flush();
  EXPECT_EQ(kernels(), 2u);
  EXPECT_EQ(capture_->converter().losses(), Losses{});
}

// CUPTI reports a stream once.
TEST_P(CapturePause, LearnsStreams) {
  cupti::StreamRecord stream{};
  stream.kind = cupti::kStreamKind;
  stream.context = 2;
  stream.stream = 7;
  stream.priority = 5;
  cupti_.add(stream);
  cupti_.deliver();
  serve();
  request_.on = true;
  serve();
  deliver_kernel(2);
  flush();
  ASSERT_EQ(out_.continuations.size(), 2u);
  EXPECT_EQ(out_.continuations[1].kernel.has_priority, 1);
}

TEST_P(CapturePause, EndsWithoutAFlushIfNoWindowCanCome) {
  const std::size_t flushes = cupti_.flushes.size();
  request_.again = false;
  serve();
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_EQ(cupti_.flushes.size(), flushes);
}

TEST_P(CapturePause, AfterTheLastWindowCuptiGoesOffBehindItsLastFlush) {
  request_.on = true;
  serve();
  cupti::ApiRecord launch = call(2);
  launch.start = launch.end = ticks();
  cupti_.add(launch);
  cupti_.deliver();
  request_.again = false;
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  EXPECT_EQ(cupti_.kinds, all_) << "no flush may follow";
  deliver_kernel(2);
  serve(kSecond);
  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(kernels(), 2u);
  EXPECT_TRUE(cupti_.kinds.empty());
}

TEST_P(CapturePause, AnotherClientGetsCuptiOff) {
  deliver_kernel(2);
  request_.yield = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kYielded);
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_EQ(kernels(), 1u);
  EXPECT_EQ(capture_->converter().losses(), Losses{});
}

TEST_P(CapturePause, TheEndOfTheProcessLeavesCuptiAlone) {
  const std::size_t flushes = cupti_.flushes.size();
  request_.finish = true;
  EXPECT_EQ(serve(), -1);
  EXPECT_EQ(capture_->state(), Capture::State::kFinished);
  EXPECT_EQ(cupti_.flushes.size(), flushes);
}

INSTANTIATE_TEST_SUITE_P(Versions, CapturePause, ::testing::Values(test::kCupti118, test::kCupti130),
                         [](const auto& p) { return "api" + std::to_string(p.param.version); });

}  // namespace
}  // namespace profshim::device
