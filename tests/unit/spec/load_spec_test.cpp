#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "profshim/spec.h"
#include "unit/spec/spec_folder.h"

namespace profshim {
namespace {

using LoadSpec = SpecFolder;

LoadedSpec with_environment(std::vector<std::pair<std::string, std::string>> environment,
                            std::vector<std::pair<std::string, std::string>> options = {}) {
  SpecSources sources;
  sources.environment = std::move(environment);
  sources.options = std::move(options);
  return load_spec(sources);
}

TEST_F(LoadSpec, RecordingIsOffByDefault) {
  const LoadedSpec loaded = load_spec({});
  EXPECT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded.enabled);
}

TEST_F(LoadSpec, SpecFileSwitchesRecordingOn) {
  write("s.toml", "version = 1\n");
  const LoadedSpec loaded = load("s.toml");
  EXPECT_EQ(lines_of(loaded), "");
  EXPECT_TRUE(loaded.enabled);
}

TEST_F(LoadSpec, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(lines_of(load("none.toml")),
            (folder_ / "none.toml").string() + ": cannot be read: No such file or directory\n");
  EXPECT_EQ(lines_of(load("")), folder_.string() + "/: is a folder, not a spec\n");
  SpecSources device;
  device.file = "/dev/zero";
  EXPECT_EQ(lines_of(load_spec(device)), "/dev/zero: is not a regular file\n");
}

TEST_F(LoadSpec, RefusesAHugeFile) {
  write("huge.toml", "version = 1\n#" + std::string(128 << 10, 'x'));
  EXPECT_NE(lines_of(load("huge.toml")).find("is larger than 128 KiB"), std::string::npos);
}

TEST_F(LoadSpec, StopsCountingUnknownKeysAtAHundred) {
  std::string text = "version = 1\n";
  for (int i = 0; i < 2000; ++i) text += "key" + std::to_string(i) + " = [1, 2]\n";
  const LoadedSpec loaded = load_spec_text(text, "many");
  EXPECT_FALSE(loaded.ok());
  EXPECT_LE(loaded.problems.size(), 100u);
}

TEST_F(LoadSpec, AcceptsStrictBooleansOnly) {
  for (const char* word : {"true", "\"true\"", "\"yes\"", "\"on\"", "\"1\"", "1"}) {
    EXPECT_TRUE(load_spec_text("version=1\nprofile.enable = " + std::string(word), "x").enabled) << word;
  }
  for (const char* word : {"false", "\"false\"", "\"no\"", "\"off\"", "\"0\"", "0"}) {
    const LoadedSpec loaded = load_spec_text("version=1\nprofile.enable = " + std::string(word), "x");
    EXPECT_TRUE(loaded.ok()) << word;
    EXPECT_FALSE(loaded.enabled) << word;
  }
  EXPECT_FALSE(load_spec_text("version=1\nprofile.enable = \"True\"", "x").ok());
}

TEST_F(LoadSpec, EnvironmentSwitchesRecordingOn) {
  const LoadedSpec loaded = with_environment({{"PROFSHIM_RANKS", "all"}});
  EXPECT_EQ(lines_of(loaded), "");
  EXPECT_TRUE(loaded.enabled);
  EXPECT_EQ(loaded.spec.ranks.select.text(), "all");
}

TEST_F(LoadSpec, EnvironmentCanSwitchAFileOff) {
  write("s.toml", "version = 1\nprofile.enable = true\n");
  SpecSources sources;
  sources.file = folder_ / "s.toml";
  sources.environment = {{"PROFSHIM", "off"}};
  EXPECT_FALSE(load_spec(sources).enabled);
  sources.environment = {{"PROFSHIM", "maybe"}};
  EXPECT_EQ(lines_of(load_spec(sources)),
            "PROFSHIM: profile.enable: \"maybe\" is not a boolean; allowed: 1, true, yes, on, 0, false, no, off\n");
}

TEST_F(LoadSpec, LaterSourcesWin) {
  const std::string path = write("s.toml", "version = 1\n[ranks]\nselect = \"1\"\n[output]\nfolder = \"file\"\n");
  SpecSources sources;
  sources.file = path;
  EXPECT_EQ(origin_of(load_spec(sources), "ranks.select"), "\"1\" from " + path + ":3");
  sources.environment = {{"PROFSHIM_RANKS", "3"}, {"PROFSHIM_SET", "ranks.select=2 output.folder=set"}};
  EXPECT_EQ(origin_of(load_spec(sources), "ranks.select"), "\"3\" from PROFSHIM_RANKS");
  EXPECT_EQ(origin_of(load_spec(sources), "output.folder"), "\"set\" from PROFSHIM_SET");
  sources.options = {{"--ranks", "4"}};
  EXPECT_EQ(origin_of(load_spec(sources), "ranks.select"), "\"4\" from --ranks");
  sources.options = {{"--set", "ranks.select=5"}, {"--ranks", "4"}};
  EXPECT_EQ(origin_of(load_spec(sources), "ranks.select"), "\"5\" from --set");
  EXPECT_EQ(origin_of(load_spec(sources), "limits.total_traces"), "64 from default");
}

TEST_F(LoadSpec, EveryShortFormSetsItsKey) {
  const LoadedSpec loaded = with_environment({{"PROFSHIM", "1"},
                                              {"PROFSHIM_RANKS", "local:0"},
                                              {"PROFSHIM_STEPS", "1,2,5-7"},
                                              {"PROFSHIM_FOLDER", "/a b/\"c\""},
                                              {"PROFSHIM_ACTIVITIES", "mpi,nvtx"},
                                              {"PROFSHIM_MEM", "64MiB"},
                                              {"PROFSHIM_LOG", "debug"},
                                              {"PROFSHIM_RUN_NAME", "it's"}});
  EXPECT_EQ(lines_of(loaded), "");
  EXPECT_EQ(loaded.spec.ranks.select.text(), "local:0");
  ASSERT_EQ(loaded.spec.schedule.steps.size(), 2u);
  EXPECT_EQ(loaded.spec.schedule.steps[0].last, 2);
  EXPECT_EQ(loaded.spec.schedule.steps[1].first, 5);
  EXPECT_EQ(loaded.spec.output.folder, "/a b/\"c\"");
  EXPECT_TRUE(loaded.spec.activities.mpi && loaded.spec.activities.nvtx);
  EXPECT_FALSE(loaded.spec.activities.cpu || loaded.spec.activities.cuda || loaded.spec.activities.nccl);
  EXPECT_EQ(loaded.spec.limits.host_memory, 64u << 20);
  EXPECT_EQ(loaded.spec.profile.log_level, LogLevel::kDebug);
  EXPECT_EQ(loaded.spec.profile.log, "stderr");
  EXPECT_EQ(loaded.spec.profile.run_name, "it's");
}

TEST_F(LoadSpec, TheLogVariableIsALevelOrAPath) {
  const LoadedSpec loaded = with_environment({{"PROFSHIM_LOG", "/tmp/p.log"}});
  EXPECT_EQ(loaded.spec.profile.log, "/tmp/p.log");
  EXPECT_EQ(loaded.spec.profile.log_level, LogLevel::kWarn);
  for (const char* slip : {"warning", "stdout", "DEBUG"}) {
    const std::string said = lines_of(with_environment({{"PROFSHIM_LOG", slip}}));
    EXPECT_NE(said.find("levels are quiet, error, warn"), std::string::npos) << slip << ": " << said;
  }
}

TEST_F(LoadSpec, SetTakesQuotesListsAndBrackets) {
  const LoadedSpec loaded =
      with_environment({{"PROFSHIM_SET",
                         "output.folder=\"/a b/{run_name}\"  schedule.steps=[1, \"3-4\"] capture.activities=cpu,mpi\n"
                         "process.match=['x y', \"z\\u00e9\"] limits.window_seconds=0.5"}});
  EXPECT_EQ(lines_of(loaded), "");
  EXPECT_EQ(loaded.spec.output.folder, "/a b/{run_name}");
  EXPECT_EQ(loaded.spec.schedule.steps.size(), 2u);
  EXPECT_FALSE(loaded.spec.activities.nvtx);
  EXPECT_EQ(loaded.spec.process.match, (std::vector<std::string>{"x y", "z\u00e9"}));
  EXPECT_EQ(loaded.spec.limits.window_seconds, 0.5);
}

TEST_F(LoadSpec, WrongOverridesNameTheirSource) {
  const auto line = [](const char* set) { return lines_of(with_environment({{"PROFSHIM_SET", set}})); };
  EXPECT_EQ(line("schedule.actve=3"), "PROFSHIM_SET: schedule.actve: unknown key; did you mean schedule.active?\n");
  EXPECT_EQ(line("schedule.active=x"),
            "PROFSHIM_SET: schedule.active: must be a whole number, not \"x\"; allowed: 1 or more\n");
  EXPECT_EQ(line("oops"),
            "PROFSHIM_SET: \"oops\" is not of the form key=value; write key=value, separated by blanks\n");
  EXPECT_EQ(
      line("output.folder=\"a"),
      "PROFSHIM_SET: the quotes or brackets of \"output.folder=\"a\" are not closed; write key=value, separated by "
      "blanks\n");
  EXPECT_EQ(line("output.folder=/a;schedule.steps=3"),
            "PROFSHIM_SET: a blank, not \";\", must stand before \"schedule.steps=3\"; write key=value, separated by "
            "blanks\n");
  EXPECT_EQ(line("output.folder=/a,b capture.activities=cpu,mpi profile.run_name='a;b.c=d'"), "");
  EXPECT_EQ(line("version=1"), "PROFSHIM_SET: version: can be given in a spec file only\n");
  EXPECT_EQ(lines_of(with_environment({}, {{"--ranks", ""}})),
            "--ranks: ranks.select: an empty expression selects no rank; write \"all\" for every rank\n");
}

TEST_F(LoadSpec, UnknownVariablesAreAWarning) {
  const LoadedSpec loaded = with_environment({{"PROFSHIM_RNKS", "3"},
                                              {"PROFSHIM_ACTIVE", "1"},
                                              {"PROFSHIM_NVTX_CHAIN", "x"},
                                              {"PROFSHIM_STACKS", "1"},
                                              {"PROFSHIM_COLOUR", "1"}});
  EXPECT_TRUE(loaded.ok());
  EXPECT_EQ(lines_of(loaded),
            "environment: warning: unknown variable PROFSHIM_RNKS; did you mean PROFSHIM_RANKS?\n"
            "environment: warning: unknown variable PROFSHIM_STACKS; did you mean PROFSHIM_STACK?\n"
            "environment: warning: unknown variable PROFSHIM_COLOUR; keys are set with PROFSHIM_SET=\"key=value\"\n");
}

TEST_F(LoadSpec, InternalVariablesDoNotSwitchRecordingOn) {
  const LoadedSpec loaded =
      with_environment({{"PROFSHIM_ACTIVE", "1:2"}, {"PROFSHIM_NVTX_CHAIN", "x"}, {"PROFSHIM_NCCL_PLUGIN", "/x.so"}});
  EXPECT_FALSE(loaded.enabled);
  EXPECT_EQ(lines_of(loaded), "");
}

TEST_F(LoadSpec, StepsOfAnOverrideReplaceTheCycleOfTheFileAndTheOtherWayRound) {
  const std::string cycle = write("cycle.toml", "version = 1\n[schedule]\nactive = 7\nwait = 3\n");
  SpecSources sources;
  sources.file = cycle;
  sources.environment = {{"PROFSHIM_STEPS", "4"}};
  const LoadedSpec listed = load_spec(sources);
  EXPECT_EQ(lines_of(listed), "");
  EXPECT_EQ(listed.spec.schedule.steps.size(), 1u);
  EXPECT_EQ(origin_of(listed, "schedule.active"), "3 from not used: schedule.steps is given");

  sources.file = write("list.toml", "version = 1\n[schedule]\nsteps = [1]\n");
  sources.environment = {{"PROFSHIM_SET", "schedule.active=2"}};
  const LoadedSpec cycled = load_spec(sources);
  EXPECT_TRUE(cycled.spec.schedule.steps.empty());
  EXPECT_EQ(cycled.spec.schedule.active, 2);
}

TEST_F(LoadSpec, StepsAndCycleInOneLayerContradictEachOther) {
  EXPECT_FALSE(with_environment({}, {{"--steps", "1"}, {"--set", "schedule.active=2"}}).ok());
}

TEST_F(LoadSpec, AdjacentStepsShareARangeOnlyWhenContinuous) {
  const std::string text = "version=1\n[schedule]\nsteps=[4, 2, \"5-6\", 3, 9, 5]\n";
  const auto joined = load_spec_text(text, "x").spec.schedule.steps;
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].first, 2);
  EXPECT_EQ(joined[0].last, 6);
  EXPECT_EQ(load_spec_text(text + "continuous = false\n", "x").spec.schedule.steps.size(), 5u);
}

TEST_F(LoadSpec, ProblemsWithErrorsLeaveOnErrorReadable) {
  const LoadedSpec loaded = load_spec_text("version=1\nprofile.on_error=\"abort\"\nschedule.active=0\n", "x");
  EXPECT_FALSE(loaded.ok());
  EXPECT_TRUE(loaded.spec.profile.abort_on_error);
}

TEST_F(LoadSpec, WarningsDoNotFailAndComeLast) {
  const LoadedSpec loaded =
      load_spec_text("version=1\n[schedule]\nwarmup=0\n[steps]\nevery_ms=5\n[output]\nfolder=\"\"\n", "x");
  ASSERT_EQ(loaded.problems.size(), 3u);
  EXPECT_EQ(loaded.problems[0].severity, Problem::Severity::kError);
  EXPECT_EQ(loaded.problems[2].severity, Problem::Severity::kWarning);
}

TEST_F(LoadSpec, CollectivePatternsAreTakenFromTheHookTables) {
  EXPECT_TRUE(load_spec_text("version=1\nsteps={source=\"collective\",pattern=\"MPI_In*\"}\n", "x").ok());
}

TEST_F(LoadSpec, CudaFunctionsAreNotCollectives) {
  EXPECT_FALSE(load_spec_text("version=1\nsteps={source=\"collective\",pattern=\"cudaMemcpy\"}\n", "x").ok());
}

TEST_F(LoadSpec, WithoutAScheduleEveryProfilerRangeIsAWindow) {
  const LoadedSpec loaded = load_spec_text("version=1\nsteps.source=\"cuda_profiler_api\"\n", "x");
  ASSERT_TRUE(loaded.ok());
  for (const std::int64_t range : {0, 1, 1000}) {
    EXPECT_EQ(loaded.spec.schedule.action_of(range), Action::kRecordAndSave) << range;
  }
}

TEST_F(LoadSpec, AGivenScheduleCountsProfilerRanges) {
  const std::string source = "version=1\nsteps.source=\"cuda_profiler_api\"\n";
  const Schedule skips = load_spec_text(source + "schedule.skip_first=2\n", "x").spec.schedule;
  EXPECT_EQ(skips.action_of(1), Action::kNone);
  EXPECT_EQ(skips.action_of(2), Action::kRecordAndSave);
  const Schedule list = load_spec_text(source + "schedule.steps=[3]\n", "x").spec.schedule;
  EXPECT_EQ(list.action_of(0), Action::kNone);
  EXPECT_EQ(list.action_of(3), Action::kRecordAndSave);
}

TEST_F(LoadSpec, AKernelPatternIsNotLookedUpInTheHookTables) {
  EXPECT_TRUE(load_spec_text("version=1\nsteps={source=\"kernel\",pattern=\"*adam*\"}\n", "x").ok());
}

TEST_F(LoadSpec, ReadsTheEnvironmentOfTheProcess) {
  setenv("PROFSHIM_SPEC", "/x/y.toml", 1);
  setenv("PROFSHIM_RANKS", "a=b", 1);
  setenv("PROFSHIMX", "no", 1);
  const SpecSources sources = sources_from_environment();
  unsetenv("PROFSHIM_SPEC");
  unsetenv("PROFSHIM_RANKS");
  unsetenv("PROFSHIMX");
  EXPECT_EQ(sources.file, "/x/y.toml");
  ASSERT_EQ(sources.environment.size(), 1u);
  EXPECT_EQ(sources.environment[0], (std::pair<std::string, std::string>("PROFSHIM_RANKS", "a=b")));
}

}  // namespace
}  // namespace profshim
