#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "profshim/spec.h"
#include "profshim/window.h"

namespace profshim {
namespace {

using Json = nlohmann::json;

const Json& vectors() {
  static const Json kVectors = Json::parse(std::ifstream(PROFSHIM_SOURCE_DIR "/tests/golden/schedule-vectors.json"));
  return kVectors;
}

Schedule schedule_of(const Json& config) {
  Schedule s;
  s.skip_first = config.value("skip_first", std::int64_t{0});
  s.wait = config.at("wait");
  s.warmup = config.at("warmup");
  s.active = config.at("active");
  s.repeat = config.value("repeat", std::int64_t{0});
  s.skip_first_wait = config.value("skip_first_wait", std::int64_t{0});
  return s;
}

Schedule list(std::vector<StepRange> steps, bool continuous = true) {
  Schedule s;
  s.steps = std::move(steps);
  s.continuous = continuous;
  return s;
}

std::string actions(const Schedule& schedule, std::int64_t steps) {
  std::string out;
  for (std::int64_t step = 0; step < steps; ++step) out += letter(schedule.action_of(step));
  return out;
}

TEST(Schedule, EqualsEveryVectorOfTorch) {
  ASSERT_EQ(vectors().at("schedules").size(), 24u);
  for (const Json& vector : vectors().at("schedules")) {
    const std::string expected = vector.at("actions");

    EXPECT_EQ(actions(schedule_of(vector.at("config")), 31), expected) << vector.at("id");
  }
}

TEST(Schedule, NextRecordedAndIsOverAgreeWithTheActions) {
  std::vector<Schedule> schedules;
  for (const Json& vector : vectors().at("schedules")) schedules.push_back(schedule_of(vector.at("config")));
  schedules.push_back(list({{1, 1}, {3, 5}, {9, 9}}));
  schedules.push_back(list({{0, 2}, {10, 10}}, false));
  for (const Schedule& schedule : schedules) {
    for (std::int64_t step = 0; step < 60; ++step) {
      std::int64_t next = step;
      while (next < 400 && schedule.action_of(next) < Action::kRecord) ++next;

      const auto found = schedule.next_recorded(step);

      ASSERT_EQ(found.has_value(), next < 400) << step;
      EXPECT_EQ(found.value_or(next), next);
      EXPECT_EQ(schedule.is_over(step), !found.has_value()) << step;
    }
  }
}

TEST(Schedule, RefusesSchedulesThatTorchRefuses) {
  ASSERT_EQ(vectors().at("invalid").size(), 6u);
  for (const Json& vector : vectors().at("invalid")) {
    std::string text = "version = 1\n[schedule]\n";
    for (const auto& [key, value] : vector.at("config").items()) text += key + " = " + value.dump() + "\n";

    const LoadedSpec loaded = load_spec_text(text, "vector");

    EXPECT_FALSE(loaded.ok()) << text;
    ASSERT_FALSE(loaded.problems.empty());
    EXPECT_NE(loaded.problems[0].message.find("is too small"), std::string::npos);
  }
}

TEST(Schedule, WarnsWithoutWarmupAsTorchDoes) {
  for (const Json& vector : vectors().at("schedules")) {
    std::string text = "version = 1\n[schedule]\n";
    for (const auto& [key, value] : vector.at("config").items()) text += key + " = " + value.dump() + "\n";

    const LoadedSpec loaded = load_spec_text(text, "vector");

    EXPECT_TRUE(loaded.ok());
    EXPECT_EQ(loaded.problems.size(), vector.at("warns_no_warmup").get<bool>() ? 1u : 0u) << vector.at("id");
  }
}

TEST(Schedule, ListHasOneWarmupStepBeforeEachWindow) {
  EXPECT_EQ(actions(list({{1, 1}, {3, 3}}), 5), "WSWSN");
  EXPECT_EQ(actions(list({{2, 4}}), 6), "NWRRSN");
  EXPECT_EQ(actions(list({{5, 5}, {7, 7}, {9, 9}}), 11), "NNNNWSWSWSN");
  EXPECT_EQ(actions(list({{0, 1}}), 3), "RSN");
}

TEST(Schedule, ListWithoutContinuousSavesEveryStep) { EXPECT_EQ(actions(list({{2, 4}}, false), 6), "NWSSSN"); }

TEST(Schedule, RecordsNothingBeforeTheFirstStep) {
  Schedule schedule;
  schedule.skip_first = 0;
  EXPECT_EQ(schedule.action_of(-1), Action::kNone);
  EXPECT_EQ(schedule.action_of(std::numeric_limits<std::int64_t>::min()), Action::kNone);
  EXPECT_EQ(list({{0, 3}}).action_of(-1), Action::kNone);
}

TEST(Schedule, DoesNotOverflow) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Schedule schedule;
  schedule.skip_first = schedule.wait = schedule.warmup = schedule.active = schedule.repeat = kMax;
  schedule.skip_first_wait = 1;

  EXPECT_EQ(schedule.action_of(kMax), Action::kWarmup);
  EXPECT_FALSE(schedule.is_over(kMax));
  EXPECT_EQ(schedule.next_recorded(kMax), std::nullopt);
  EXPECT_EQ(list({{kMax, kMax}}).action_of(kMax - 1), Action::kWarmup);
  EXPECT_EQ(list({{kMax, kMax}}).next_recorded(0), kMax);
}

}  // namespace
}  // namespace profshim
