#include "analysis/model/time/clock_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace profshim::analysis_detail {
namespace {

/// Two ranks may enter and leave these barriers late. The second rank's clock is `offset` ns behind and loses `drift`
/// ns per ns.
struct Barriers {
  std::vector<ClockBound> at_least, at_most, ends;
  double offset, drift;
  std::int64_t first = 1'000'000'000'000, last = first;

  Barriers(double offset_ns, double drift_ratio, int count, std::mt19937_64& random, bool one_is_always_late = false)
      : offset(offset_ns), drift(drift_ratio) {
    std::exponential_distribution<double> lateness(1 / 200'000.0), leaving(1 / 4'000.0);
    std::bernoulli_distribution held_up(0.05);
    double now = 0;
    for (int i = 0; i < count; ++i) {
      now += 10e6 + lateness(random);
      const double begin_a = now + (one_is_always_late ? 0 : lateness(random)),
                   begin_b = now + lateness(random) + (one_is_always_late ? 100'000 : 0);
      const double all_here = std::max(begin_a, begin_b) + 800;
      const double end_a = all_here + leaving(random) + (held_up(random) ? 5e6 : 0);
      const double end_b = all_here + leaving(random) + (held_up(random) ? 5e6 : 0);
      const auto shown = [&](double t) { return t - (offset + drift * t); };
      at_least.push_back({at(shown(end_b)), begin_a - shown(end_b)});
      at_most.push_back({at(shown(begin_b)), end_a - shown(begin_b)});
      ends.push_back({at(shown(end_b)), end_a - shown(end_b)});
      last = std::max(last, at(shown(end_b)));
    }
  }
  std::int64_t at(double t) const { return first + static_cast<std::int64_t>(std::llround(t)); }
  /// Returns how far the first clock is ahead when the second shows `when`.
  double ahead(std::int64_t when) const {
    const auto t = static_cast<double>(when - first);
    return (offset + drift * t) / (1 - drift);
  }
  ClockFit fit() const { return fit_clock(at_least, at_most, ends, first, last); }
  double mistake(const ClockFit& fit, std::int64_t when) const {
    return std::fabs(fit.offset_ns + fit.drift * static_cast<double>(when - fit.origin_ns) - ahead(when));
  }
};

TEST(ClockFit, FindsOffsetAndDriftWhoeverIsLate) {
  std::mt19937_64 random(7);
  for (const bool one_is_late : {false, true}) {
    const Barriers barriers(0.7e9, 37e-6, 500, random, one_is_late);

    const ClockFit fit = barriers.fit();

    EXPECT_TRUE(fit.consistent);
    EXPECT_NEAR(fit.drift, 37e-6, 1e-6);
    for (const std::int64_t when : {barriers.first, barriers.last}) EXPECT_LT(barriers.mistake(fit, when), 20'000);
  }
}

TEST(ClockFit, TheErrorThatItStatesHolds) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> offset(-1e9, 1e9), drift(-50e-6, 50e-6);
  std::uniform_int_distribution<int> count(2, 300);
  for (int trial = 0; trial < 1000; ++trial) {
    const Barriers barriers(offset(random), drift(random), count(random), random, trial % 2 == 1);
    const ClockFit fit = barriers.fit();
    ASSERT_TRUE(fit.consistent) << trial;
    for (const std::int64_t when : {barriers.first, barriers.last})
      EXPECT_LE(barriers.mistake(fit, when), fit.error_ns + 10) << trial;
  }
}

TEST(ClockFit, ClocksThatAreOneHaveNoDrift) {
  std::mt19937_64 random(3);
  const Barriers barriers(0, 0, 100, random);

  const ClockFit fit = barriers.fit();

  EXPECT_NEAR(fit.drift, 0, 2e-6);
  EXPECT_LT(std::fabs(fit.offset_ns), 2'000);
}

TEST(ClockFit, NeedsBoundsOfBothKinds) {
  const ClockBound one{1'000, 5};
  EXPECT_FALSE(fit_clock({&one, 1}, {}, {}, 0, 2'000).known);
  EXPECT_FALSE(fit_clock({}, {&one, 1}, {}, 0, 2'000).known);
}

TEST(ClockFit, SaysThatAClockWasSet) {
  std::mt19937_64 random(5);
  const Barriers before(0, 0, 50, random);
  std::vector<ClockBound> at_least = before.at_least, at_most = before.at_most;
  for (std::size_t i = at_least.size() / 2; i < at_least.size(); ++i) {
    at_least[i].ahead_ns += 1e9;
    at_most[i].ahead_ns += 1e9;
  }

  const ClockFit fit = fit_clock(at_least, at_most, {}, before.first, before.last);

  EXPECT_TRUE(fit.known);
  EXPECT_FALSE(fit.consistent);
  EXPECT_GT(fit.error_ns, 0.4e9);
}

}  // namespace
}  // namespace profshim::analysis_detail
