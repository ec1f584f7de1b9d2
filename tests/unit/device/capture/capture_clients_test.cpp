#include <time.h>

#include <cstdlib>
#include <set>

#include "capture_fixture.h"

namespace profshim::device {
namespace {

using cupti::KernelRecord;

TEST_P(CaptureTest, AnotherClientGetsCuptiOffAndOurClientComesBack) {
  cupti_.add(kernel(1));
  cupti_.deliver();
  cupti_.request();
  request_.yield = true;
  serve();
  std::free(cupti_.take_buffer());  // the other client may free this buffer
  EXPECT_EQ(capture_->state(), Capture::State::kYielded);
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(capture_->settled_until(), Capture::kEverything);

  request_.yield = false;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.registrations, 2);
  EXPECT_EQ(cupti_.clocks, 1);
}

// Capture registers its clock once, because a registration makes CUPTI give the next kernel CLOCK_REALTIME times
// (pytorch#192021).
TEST_P(CaptureTest, TheClockOfAnotherClientStaysInForceAndIsConverted) {
  request_.yield = true;
  serve();
  request_.yield = false;
  request_.foreign_clock = [] { return static_cast<std::uint64_t>(2 * monotonic_ns()); };
  serve();
  EXPECT_EQ(cupti_.clocks, 1);

  const auto at = static_cast<std::uint64_t>(monotonic_ns());
  KernelRecord theirs = kernel(1);
  theirs.start = 2 * at;
  theirs.end = 2 * at + 2000;
  cupti_.add(theirs);
  cupti_.deliver();
  flush();
  ASSERT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_NEAR(static_cast<double>(out_.of(HookId::kKernel)[0].begin), static_cast<double>(at), 1e6);
}

TEST_P(CaptureTest, ARecordWithWallClockTimesIsConverted) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const auto wall = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  const Ticks at = ticks();
  KernelRecord head = kernel(1);
  head.start = wall;
  head.end = wall + 5000;
  cupti_.add(head);
  cupti_.add(kernel(2));
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kKernel).size(), 2u);
  EXPECT_NEAR(static_cast<double>(out_.of(HookId::kKernel)[0].begin), static_cast<double>(at), 1e6);
  EXPECT_EQ(out_.of(HookId::kKernel)[1].begin, begin_ + 260);
  EXPECT_EQ(capture_->converter().losses(), Losses());
}

TEST_P(CaptureTest, OurClockIsNotRegisteredIfTheOptionsForbidIt) {
  CaptureOptions options;
  options.own_clock = false;
  capture_.reset();
  const int before = cupti_.clocks;
  Capture without(cupti_.api(), out_, options);
  EXPECT_EQ(without.prepare(id_places_of_this_thread()), "");
  without.serve(request_, now_ns_);
  EXPECT_EQ(cupti_.clocks, before);
  EXPECT_STREQ(without.converter().clock().name(), "realtime, converted");
}

TEST_P(CaptureTest, ABufferOfAnotherClientGoesToItsOwner) {
  static std::uint8_t* got = nullptr;
  std::uint8_t theirs[64] = {};
  cupti_.complete_foreign(theirs);
  EXPECT_EQ(capture_->pool().counts().foreign, 1u);
  forward_foreign_buffers([](void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) { got = buffer; });
  cupti_.complete_foreign(theirs);
  forward_foreign_buffers(nullptr);
  EXPECT_EQ(got, theirs);
  EXPECT_EQ(capture_->pool().counts().foreign, 1u);
}

// CUPTI reports existing devices, contexts and streams only when asked to dump.
TEST_P(CaptureTest, ExistingDevicesContextsAndStreamsAreDumpedInEveryWindow) {
  using Kinds = std::set<std::uint32_t>;
  EXPECT_EQ(cupti_.dumped_kinds, (Kinds{cupti::kDeviceKind, cupti::kContextKind, cupti::kStreamKind}));
  switch_off();
  cupti_.dumped_kinds.clear();
  request_.on = true;
  serve();
  EXPECT_EQ(cupti_.dumped_kinds, (Kinds{cupti::kDeviceKind, cupti::kContextKind, cupti::kStreamKind}));
}

TEST_P(CaptureTest, NothingIsRegisteredBeforeAWindowOpens) {
  capture_.reset();
  const int before = cupti_.registrations;
  Capture fresh(cupti_.api(), out_, {});
  EXPECT_EQ(fresh.prepare(id_places_of_this_thread()), "");
  fresh.serve({}, now_ns_);
  EXPECT_EQ(cupti_.registrations, before);
}

// After our failed registration, CUPTI would give our records to the other client's callbacks.
TEST_P(CaptureTest, NothingIsRecordedIntoTheBuffersOfAClientThatHasLeft) {
  request_.yield = true;
  serve();
  cupti_.registration_result = 35;
  request_.yield = false;
  serve();
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_TRUE(capture_->refused());

  cupti_.registration_result = 0;
  switch_off();
  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn) << "the next window tries again";
}

TEST_P(CaptureTest, NothingIsTouchedOnceTheOtherClientHasBegun) {
  const std::set<std::uint32_t> on = cupti_.kinds;
  const std::size_t flushes = cupti_.flushes.size();
  request_.yield = request_.yielded_too_late = true;
  serve();

  EXPECT_EQ(capture_->state(), Capture::State::kYielded);
  EXPECT_EQ(cupti_.kinds, on) << "the other client may have switched them on";
  EXPECT_EQ(cupti_.flushes.size(), flushes);
}

}  // namespace
}  // namespace profshim::device
