#include <gtest/gtest.h>

#include <algorithm>

#include "profshim/spec.h"

namespace profshim {
namespace {

LoadedSpec load(const std::string& text) { return load_spec_text("version = 1\n" + text, "s.toml"); }

std::string refusal_of(const std::string& text) {
  const LoadedSpec loaded = load(text);
  return loaded.problems.empty() ? "" : to_line(loaded.problems.front());
}

TEST(PhaseSpec, HasTheSettingsOfItsTable) {
  const LoadedSpec loaded = load(
      "[[phase]]\nname = \"rollout\"\nnvtx = \"rollout*\"\nmax_seconds = 2.5\nranks = \"0,3\"\n"
      "[[phase]]\nname = \"actor\"\ntorch = \"actor*\"\nmode = \"mark\"\n");

  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());
  ASSERT_EQ(loaded.spec.phases.size(), 2u);
  const PhaseSpec& rollout = loaded.spec.phases[0];
  EXPECT_EQ(rollout.name, "rollout");
  EXPECT_EQ(rollout.ranges_of.pattern, "rollout*");
  EXPECT_EQ(rollout.ranges_of.source, PhaseSource::kNvtx);
  EXPECT_EQ(rollout.max_seconds, 2.5);
  EXPECT_FALSE(rollout.has_windows);
  EXPECT_EQ(loaded.spec.phases[1].ranges_of.source, PhaseSource::kTorch);
}

TEST(PhaseSpec, HasOneKindOfRanges) {
  for (const std::string key : {"nvtx", "torch", "symbol", "python", "kernel", "thread"}) {
    const LoadedSpec loaded = load("[[phase]]\nname = \"a\"\n" + key + " = \"x*\"\n");
    ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());
    EXPECT_EQ(to_text(loaded.spec.phases[0].ranges_of.source), key);
    EXPECT_TRUE(has_phases_of(loaded.spec, loaded.spec.phases[0].ranges_of.source));
    EXPECT_NE(loaded.spec.to_toml().find(key + " = \"x*\""), std::string::npos);
  }
}

TEST(PhaseSpec, OwnRanksReplaceThoseOfTheTopLevel) {
  const LoadedSpec loaded = load(
      "[ranks]\nselect = \"1\"\n[[phase]]\nname = \"a\"\nnvtx = \"a\"\nranks = \"3\"\n[[phase]]\nname = \"b\"\nnvtx = "
      "\"b\"\n");
  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());
  Rank one, three;
  one.rank = 1;
  three.rank = 3;

  EXPECT_TRUE(is_selected(loaded.spec, loaded.spec.phases[0], three));
  EXPECT_FALSE(is_selected(loaded.spec, loaded.spec.phases[0], one));
  EXPECT_TRUE(is_selected(loaded.spec, loaded.spec.phases[1], one));
}

TEST(PhaseSpec, ScheduleTakesWhatItDoesNotGiveFromTheTopLevel) {
  const LoadedSpec loaded = load(
      "[schedule]\nskip_first = 7\nwarmup = 2\n[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\nschedule = { "
      "skip_first "
      "= 1, active = 4 }\n[[phase]]\nname = \"b\"\nnvtx = \"b\"\nmode = \"window\"\nschedule = { steps = [1, \"2-3\"] "
      "}\n");
  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());

  const Schedule cycle = schedule_of(loaded.spec, loaded.spec.phases[0]);
  const Schedule list = schedule_of(loaded.spec, loaded.spec.phases[1]);

  EXPECT_EQ(cycle.skip_first, 1);
  EXPECT_EQ(cycle.warmup, 2);
  EXPECT_EQ(cycle.active, 4);
  EXPECT_EQ(cycle.repeat, 1);
  ASSERT_EQ(list.steps.size(), 1u);
  EXPECT_EQ(list.steps[0].last, 3);
}

// R31: "8 ticks in a phase, active=1 skip_first=3: the window holds the 4th tick only".
TEST(PhaseSpec, ACycleBeginsAtOnceUnlessTheSpecSaysOtherwise) {
  const std::string phase =
      "[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\nschedule = { active = 1, skip_first = 3 }\n";

  const LoadedSpec plain = load(phase), with_warmup = load("[schedule]\nwarmup = 1\n" + phase);
  const LoadedSpec first =
      load("[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\nschedule = { active = 2 }\n");

  EXPECT_EQ(schedule_of(plain.spec, plain.spec.phases[0]).next_recorded(0), 3);
  EXPECT_EQ(schedule_of(with_warmup.spec, with_warmup.spec.phases[0]).next_recorded(0), 4);
  EXPECT_EQ(schedule_of(first.spec, first.spec.phases[0]).next_recorded(0), 0);
  const LoadedSpec again = load_spec_text(plain.spec.to_toml(), "again.toml");
  EXPECT_EQ(schedule_of(again.spec, again.spec.phases[0]).next_recorded(0), 3) << plain.spec.to_toml();
}

TEST(PhaseSpec, CaptureTakesWhatItDoesNotGiveFromTheTopLevel) {
  const LoadedSpec loaded = load(
      "[capture]\nwith_stack = true\nstack_every = 3\n[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\n"
      "capture = { with_stack = false, record_shapes = true, stack_depth = 24 }\n[[phase]]\nname = \"b\"\nnvtx = "
      "\"b\"\n");
  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());

  const Detail own = detail_of(loaded.spec, loaded.spec.phases[0]),
               same = detail_of(loaded.spec, loaded.spec.phases[1]);

  EXPECT_FALSE(own.with_stack);
  EXPECT_TRUE(own.record_shapes);
  EXPECT_EQ(own.stack_depth, 24);
  EXPECT_EQ(own.stack_every, 3);
  EXPECT_TRUE(same.with_stack);
  EXPECT_FALSE(same.record_shapes);
}

TEST(PhaseSpec, ACycleReplacesTheListOfTheTopLevel) {
  const LoadedSpec loaded = load(
      "[schedule]\nsteps = [\"2-3\", 10]\n[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\nschedule = { "
      "skip_first = "
      "1, active = 1 }\n[[phase]]\nname = \"b\"\nnvtx = \"b\"\nmode = \"window\"\n");
  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());

  EXPECT_EQ(schedule_of(loaded.spec, loaded.spec.phases[0]).next_recorded(0), 1);
  EXPECT_EQ(schedule_of(loaded.spec, loaded.spec.phases[1]).next_recorded(4), 10);
}

TEST(PhaseSpec, PrintedTextLoadsAsTheSameSpec) {
  const LoadedSpec loaded = load(
      "[[phase]]\nname = \"rollout \\\"1\\\"\"\nnvtx = \"rollout*\"\nmax_seconds = 2.5\nranks = \"0,3\"\n"
      "mode = \"window\"\nsteps = { source = \"torch\", pattern = \"m*\" }\nschedule = { active = 2, repeat = 0 }\n"
      "limits = { window_seconds = 1.5, total_traces = 3 }\ncapture = { with_stack = false, stack_depth = 24 }\n");
  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());

  const LoadedSpec again = load_spec_text(loaded.spec.to_toml(), "again.toml");

  ASSERT_TRUE(again.ok()) << to_line(again.problems.front());
  EXPECT_EQ(again.spec.to_toml(), loaded.spec.to_toml());
  ASSERT_EQ(again.spec.phases.size(), 1u);
}

TEST(PhaseSpec, ASpecWithoutPhasesPrintsNone) { EXPECT_EQ(load("").spec.to_toml().find("phase"), std::string::npos); }

TEST(PhaseSpec, RefusalsSayWhereAndWhatToDo) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[phase]]\nnvtx = \"a\"\n", "s.toml:2:1: phase: name is missing; write name = \"rollout\""},
      {"[[phase]]\nname = \"a\"\n",
       "s.toml:2:1: phase: the phase \"a\" names no ranges; write nvtx = \"rollout*\", or torch, symbol, python, "
       "kernel or "
       "thread instead of nvtx"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\ntorch = \"a\"\n",
       "s.toml:5:9: phase: torch cannot be given together with nvtx; a phase has one kind of range; write two phases, "
       "or "
       "remove one"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"both\"\n",
       "s.toml:5:8: phase: unknown mode \"both\"; allowed: mark, window"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmax_secnds = 1\n",
       "s.toml:5:14: phase: a phase has no key \"max_secnds\"; did you mean max_seconds?"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\nsteps = { source = \"thread\", pattern = \"b\" "
       "}\n",
       "s.toml:6:20: phase: steps of a phase cannot come from \"thread\"; allowed: nvtx, torch, symbol, python, "
       "kernel"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\n[[phase]]\nname = \"a\"\nnvtx = \"b\"\n",
       "s.toml:5:1: phase: two phases have the name \"a\"; rename one of them"},
      {"[phase]\nname = \"a\"\n", "s.toml:2:1: phase: must be a list of tables, not a table; write [[phase]]"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nschedule = { active = 1 }\n",
       "s.toml:5:12: phase: schedule has no effect with mode = \"mark\"; write mode = \"window\", or remove schedule"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nschedule = { activ = 1 }\n",
       "s.toml:5:22: phase: schedule of a phase has no key \"activ\"; did you mean active?"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\ncapture = { with_stack = true }\n",
       "s.toml:5:11: phase: capture has no effect with mode = \"mark\"; write mode = \"window\", or remove capture"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\ncapture = { profile_memory = true }\n",
       "s.toml:6:30: phase: a phase cannot have its own capture.profile_memory; set it in the top-level [capture]"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\ncapture = { with_stak = true }\n",
       "s.toml:6:25: phase: capture of a phase has no key \"with_stak\"; did you mean with_stack?"},
      {"[[phase]]\nname = \"a\"\nnvtx = \"a\"\nmode = \"window\"\ncapture = { stack_depth = 0 }\n",
       "s.toml:6:27: phase: capture.stack_depth 0 is too small; allowed: 1 to 256"},
  };
  for (const auto& [text, line] : cases) EXPECT_EQ(refusal_of(text), line) << text;
}

}  // namespace
}  // namespace profshim
