#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "profshim/window.h"

namespace profshim {
namespace {

TEST(StepCounter, CountsEveryMarkerByDefault) {
  StepCounter counter{CounterRules{}};
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto step = counter.on_marker(0, std::nullopt);

    ASSERT_TRUE(step);
    EXPECT_EQ(step->index, i);
    EXPECT_EQ(step->schedule, i);
    EXPECT_EQ(step->number, i);
  }
}

TEST(StepCounter, SeveralMarkersMakeOneStep) {
  CounterRules rules;
  rules.every = 4;
  StepCounter counter(rules);
  std::string seen;
  for (int i = 0; i < 10; ++i) seen += counter.on_marker(i, std::nullopt) ? 'x' : '.';

  EXPECT_EQ(seen, "x...x...x.");
}

TEST(StepCounter, AMarkerThatEndsAStepBeginsTheNextOne) {
  CounterRules rules;
  rules.at_end = true;
  StepCounter counter(rules);

  EXPECT_EQ(counter.before_markers().index, 0);
  EXPECT_EQ(counter.on_marker(0, std::nullopt)->index, 1);
  EXPECT_EQ(counter.on_marker(1, std::nullopt)->index, 2);
}

TEST(StepCounter, TheLastOfSeveralMarkersEndsAStep) {
  CounterRules rules;
  rules.at_end = true;
  rules.every = 2;
  StepCounter counter(rules);

  EXPECT_FALSE(counter.on_marker(0, std::nullopt));
  EXPECT_EQ(counter.on_marker(1, std::nullopt)->index, 1);
  EXPECT_FALSE(counter.on_marker(2, std::nullopt));
  EXPECT_EQ(counter.on_marker(3, std::nullopt)->index, 2);
}

TEST(StepCounter, TheStepBehindANumberedOneHasTheNextNumber) {
  CounterRules rules;
  rules.at_end = true;
  StepCounter counter(rules);

  EXPECT_EQ(counter.on_marker(0, 41)->number, 42);
}

TEST(StepCounter, CountsMarkersThatWereNotSeen) {
  for (const bool at_end : {false, true}) {
    CounterRules rules;
    rules.at_end = at_end;
    rules.every = 2;
    StepCounter counter(rules);
    counter.skip(5, false);

    // The sixth marker is the second of the third step.
    const auto sixth = counter.on_marker(0, std::nullopt), seventh = counter.on_marker(1, std::nullopt);

    EXPECT_EQ((at_end ? sixth : seventh)->index, 3);
    EXPECT_FALSE(at_end ? seventh : sixth);
  }
}

TEST(StepCounter, AScheduleMayBeginBehindTheMarkersThatWereNotSeen) {
  StepCounter counter{CounterRules{}};
  counter.skip(5, true);

  const auto step = counter.on_marker(0, std::nullopt);

  EXPECT_EQ(step->index, 5);
  EXPECT_EQ(step->schedule, 0);
}

TEST(StepCounter, IgnoresMarkersThatComeTooSoon) {
  CounterRules rules;
  rules.min_interval_ns = 100;
  StepCounter counter(rules);

  EXPECT_TRUE(counter.on_marker(1000, std::nullopt));
  EXPECT_FALSE(counter.on_marker(1099, std::nullopt));
  const auto next = counter.on_marker(1100, std::nullopt);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->index, 1);
}

TEST(StepCounter, RelativeNumberingSchedulesByCountAndKeepsTheNamedNumber) {
  StepCounter counter{CounterRules{}};

  const auto step = counter.on_marker(0, 1003);

  EXPECT_EQ(step->schedule, 0);
  EXPECT_EQ(step->number, 1003);
}

TEST(StepCounter, AbsoluteNumberingSchedulesByTheNumberInTheName) {
  CounterRules rules;
  rules.absolute = true;
  rules.first = 500;
  StepCounter counter(rules);

  EXPECT_EQ(counter.on_marker(0, 1003)->schedule, 1003);
  EXPECT_EQ(counter.on_marker(0, std::nullopt)->schedule, 501);
}

TEST(StepCounter, EpochRestartsTheScheduleAndNotTheCount) {
  CounterRules rules;
  rules.per_epoch = true;
  rules.every = 2;
  StepCounter counter(rules);
  counter.on_marker(0, std::nullopt);
  counter.on_marker(0, std::nullopt);
  counter.on_marker(0, std::nullopt);

  counter.on_epoch();

  const auto step = counter.on_marker(0, std::nullopt);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->index, 2);
  EXPECT_EQ(step->schedule, 0);
  EXPECT_EQ(step->number, 2);
}

TEST(StepCounter, EpochsCountUpFrom0UnlessTheirMarkersHaveANumber) {
  StepCounter counter(CounterRules{});
  EXPECT_EQ(counter.epoch(), 0);
  for (const std::int64_t expected : {0, 1, 2}) {
    counter.on_epoch();
    EXPECT_EQ(counter.epoch(), expected);
  }
  counter.on_epoch(17);
  EXPECT_EQ(counter.epoch(), 17);
}

/// Returns one letter per step. An epoch begins before step 7.
std::string with_reset(const Schedule& schedule, bool per_epoch) {
  CounterRules rules;
  rules.per_epoch = per_epoch;
  StepCounter counter(rules);
  std::string out;
  for (int i = 0; i < 31; ++i) {
    if (i == 7) counter.on_epoch();
    out += letter(schedule.action_of(counter.on_marker(0, std::nullopt)->schedule));
  }
  return out;
}

TEST(StepCounter, PerEpochRepeatsTheVectorsAfterAResetAndPerRunDoesNot) {
  const auto vectors = nlohmann::json::parse(std::ifstream(PROFSHIM_SOURCE_DIR "/tests/golden/schedule-vectors.json"));
  for (const auto& vector : vectors.at("schedules")) {
    const auto& c = vector.at("config");
    Schedule schedule;
    schedule.skip_first = c.at("skip_first");
    schedule.wait = c.at("wait");
    schedule.warmup = c.at("warmup");
    schedule.active = c.at("active");
    schedule.repeat = c.at("repeat");
    schedule.skip_first_wait = c.at("skip_first_wait");
    const std::string all = vector.at("actions");

    EXPECT_EQ(with_reset(schedule, true), all.substr(0, 7) + all.substr(0, 24)) << vector.at("id");
    EXPECT_EQ(with_reset(schedule, false), all) << vector.at("id");
  }
}

}  // namespace
}  // namespace profshim
