#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profshim/window.h"

namespace profshim {
namespace {

using Json = nlohmann::json;

/// Returns "first-last" for each window, with "+" if the window is still open at the end.
std::vector<std::string> windows_of(const Schedule& schedule, const std::vector<std::int64_t>& steps) {
  std::vector<std::string> out;
  WindowAutomaton automaton(schedule);
  std::int64_t first = 0, last = 0;
  for (const std::int64_t step : steps) {
    const Transition transition = automaton.on_step(step);
    if (transition.close) out.push_back(std::to_string(first) + "-" + std::to_string(last));
    if (transition.open) first = step;
    last = step;
  }
  if (automaton.open()) out.push_back(std::to_string(first) + "-" + std::to_string(last) + "+");
  return out;
}

std::vector<std::int64_t> count_to(std::int64_t end) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step < end; ++step) steps.push_back(step);
  return steps;
}

Schedule list(std::vector<StepRange> steps) {
  Schedule s;
  s.steps = std::move(steps);
  return s;
}

Schedule cycle(std::int64_t skip_first, std::int64_t wait, std::int64_t warmup, std::int64_t active,
               std::int64_t repeat) {
  Schedule s;
  s.skip_first = skip_first;
  s.wait = wait;
  s.warmup = warmup;
  s.active = active;
  s.repeat = repeat;
  return s;
}

// In torch, step() of the last iteration begins another step, whose trace is empty. profshim writes no such trace.
TEST(WindowAutomaton, MakesTheTracesOfTorchExceptEmptyOnes) {
  const Json vectors = Json::parse(std::ifstream(PROFSHIM_SOURCE_DIR "/tests/golden/schedule-vectors.json"));
  ASSERT_FALSE(vectors.at("runs").empty());
  for (const Json& run : vectors.at("runs")) {
    Schedule schedule;
    for (const Json& entry : vectors.at("schedules")) {
      if (entry.at("id") != run.at("schedule")) continue;
      const Json& c = entry.at("config");
      schedule = cycle(c.at("skip_first"), c.at("wait"), c.at("warmup"), c.at("active"), c.at("repeat"));
      schedule.skip_first_wait = c.at("skip_first_wait");
    }
    const std::int64_t iterations = run.at("iterations");
    std::vector<std::string> expected;
    for (const Json& trace : run.at("traces")) {
      if (trace.at("empty").get<bool>()) continue;
      const std::int64_t first = trace.at("record_first"), last = trace.at("record_last");
      expected.push_back(std::to_string(first) + "-" + std::to_string(last) + (last + 1 == iterations ? "+" : ""));
    }

    EXPECT_EQ(windows_of(schedule, count_to(iterations)), expected) << run.at("schedule") << " " << iterations;
  }
}

TEST(WindowAutomaton, FollowsTheTransitionsOfTorch) {
  const Json vectors = Json::parse(std::ifstream(PROFSHIM_SOURCE_DIR "/tests/golden/schedule-vectors.json"));
  // Together, these schedules have every transition between actions that torch has.
  const std::vector<Schedule> schedules = {
      cycle(0, 1, 1, 2, 0), cycle(0, 0, 1, 2, 0), cycle(0, 1, 0, 2, 0), cycle(0, 0, 0, 2, 0), cycle(0, 0, 0, 1, 0),
      cycle(0, 2, 2, 1, 0), cycle(0, 1, 0, 1, 0), cycle(0, 1, 1, 1, 0), cycle(0, 0, 1, 1, 0), cycle(0, 0, 1, 3, 0)};
  const std::map<std::string, Action> kByName = {{"NONE", Action::kNone},
                                                 {"WARMUP", Action::kWarmup},
                                                 {"RECORD", Action::kRecord},
                                                 {"RECORD_AND_SAVE", Action::kRecordAndSave}};
  int seen = 0;
  for (const Json& vector : vectors.at("transitions")) {
    if (vector.at("to") == "EXIT" || !vector.at("warn").is_null()) continue;
    const auto has = [&](const char* call) {
      for (const Json& c : vector.at("calls")) {
        if (c == call) return true;
      }
      return false;
    };
    for (const Schedule& schedule : schedules) {
      WindowAutomaton automaton(schedule);
      Action before = Action::kNone;
      for (std::int64_t step = 0; step < 20; ++step) {
        const Transition transition = automaton.on_step(step);
        const Action after = schedule.action_of(step);
        if (before == kByName.at(vector.at("from")) && after == kByName.at(vector.at("to"))) {
          ++seen;
          EXPECT_EQ(transition.open, has("start_trace")) << vector;
          EXPECT_EQ(transition.close, has("stop_trace")) << vector;
          EXPECT_EQ(transition.armed, after != Action::kNone) << vector;
        }
        before = after;
      }
    }
  }
  EXPECT_GT(seen, 50);
}

TEST(WindowAutomaton, RecordsTheListsThatOthersGetWrong) {
  EXPECT_EQ(windows_of(list({{1, 1}, {3, 3}}), count_to(12)), (std::vector<std::string>{"1-1", "3-3"}));
  EXPECT_EQ(windows_of(list({{2, 4}}), count_to(12)), (std::vector<std::string>{"2-4"}));
  EXPECT_EQ(windows_of(list({{5, 5}, {7, 7}, {9, 9}}), count_to(12)), (std::vector<std::string>{"5-5", "7-7", "9-9"}));
}

TEST(WindowAutomaton, AWindowClosedByALimitStaysClosedUntilTheNextOfTheSchedule) {
  const Schedule schedule = cycle(0, 1, 1, 3, 0);
  WindowAutomaton automaton(schedule);
  std::string seen;
  for (std::int64_t step = 0; step < 10; ++step) {
    const Transition transition = automaton.on_step(step);
    seen += transition.close ? 'c' : transition.open ? 'o' : transition.armed ? 'a' : '-';
    if (step == 3) automaton.closed_by_limit();
  }

  EXPECT_EQ(seen,
            "-aoa-"
            "-aoaa");
}

TEST(WindowAutomaton, ALimitInTheLastStepOfBackToBackWindowsDoesNotSkipTheNext) {
  const Schedule schedule = cycle(0, 0, 0, 2, 0);
  WindowAutomaton automaton(schedule);
  automaton.on_step(0);
  automaton.on_step(1);
  automaton.closed_by_limit();

  const Transition transition = automaton.on_step(2);

  EXPECT_FALSE(transition.close);
  EXPECT_TRUE(transition.open);
}

TEST(WindowAutomaton, DecreasingStepNumbersBeginANewWindow) {
  const Schedule schedule = cycle(0, 0, 0, 20, 1);

  EXPECT_EQ(windows_of(schedule, {0, 1, 2, 0, 1}), (std::vector<std::string>{"0-2", "0-1+"}));
}

TEST(WindowAutomaton, RepeatedStepStaysInItsWindow) {
  EXPECT_EQ(windows_of(list({{2, 3}}), {1, 2, 2, 3, 3, 4}), (std::vector<std::string>{"2-3"}));
}

TEST(WindowAutomaton, JumpIntoTheNextWindowClosesTheLast) {
  EXPECT_EQ(windows_of(cycle(0, 2, 0, 2, 0), {2, 7, 8}), (std::vector<std::string>{"2-2", "7-7"}));
}

}  // namespace
}  // namespace profshim
