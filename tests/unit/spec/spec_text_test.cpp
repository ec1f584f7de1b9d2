#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "profshim/recorder_control.h"
#include "profshim/spec.h"
#include "unit/spec/bad_specs.h"

namespace profshim {
namespace {

TEST(SpecText, TheDefaultsLoadBackToThemselves) {
  const Spec defaults;
  const LoadedSpec loaded = load_spec_text(defaults.to_toml(), "defaults");
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_EQ(loaded.spec.to_toml(), defaults.to_toml());
}

class RandomSpecs {
 public:
  Spec next() {
    Spec spec;
    fill_profile_and_ranks(spec);
    fill_steps_and_schedule(spec);
    fill_capture(spec);
    fill_limits_and_output(spec);
    return spec;
  }

 private:
  bool flip() { return random_() % 2 == 0; }
  std::int64_t number(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }
  std::string text() {
    constexpr const char* kTexts[] = {"a", "x*[!y]?", "\"quoted\" \\ back", "caf\u00e9 \U0001F600", "#no comment", "'"};
    return kTexts[random_() % std::size(kTexts)];
  }

  void fill_profile_and_ranks(Spec& s) {
    std::string message;
    int column = 0;
    s.profile.enable = flip();
    s.profile.run_name = flip() ? "" : text();
    s.profile.abort_on_error = flip();
    s.profile.log_level = static_cast<LogLevel>(random_() % 5);
    s.profile.log = "./" + text();
    for (auto n = random_() % 3; n > 0; --n) s.process.match.push_back(text());
    for (auto n = random_() % 3; n > 0; --n) s.process.exclude.push_back(text());
    s.process.role = text();
    EXPECT_TRUE(s.ranks.select.parse(flip() ? "0, node:1 & !local:(0,3-5/2)" : "host:g[!a]* , last", message, column));
    s.ranks.source = flip() ? "mpi" : "SLURM_PROCID";
    s.ranks.record_unknown = flip();
    s.profile.on_conflict = static_cast<OnConflict>(random_() % 3);
  }

  void fill_steps_and_schedule(Spec& s) {
    s.steps.source = flip() ? StepSource::kNvtx : StepSource::kAuto;
    s.steps.pattern = text();
    s.steps.edge_end = flip();
    s.steps.every = 1 + number(9);
    s.steps.min_interval_ms = number(100);
    s.steps.first = number(2000) - 1000;
    s.steps.epoch = text();
    s.steps.absolute = flip();
    s.schedule_per_epoch = !s.steps.absolute && flip();
    if (flip()) {
      s.schedule.steps = {{1, 4}, {7, 7}, {10, 90}};
      s.schedule.continuous = flip();
    } else {
      s.schedule.skip_first = number(100);
      s.schedule.wait = number(100);
      s.schedule.warmup = 1 + number(100);
      s.schedule.active = 1 + number(100);
      s.schedule.repeat = number(100);
      s.schedule.skip_first_wait = number(2);
    }
    s.save_on_exit = flip();
  }

  void fill_capture(Spec& s) {
    s.activities.cpu = flip();
    s.activities.nccl = flip();
    s.profile_memory = flip();
    for (auto n = random_() % 3; n > 0; --n) s.include.push_back(text());
    for (auto n = random_() % 3; n > 0; --n) s.exclude.push_back(text());
    s.min_us = number(100);
    s.fold_polls = flip();
    s.cuda_sync = flip();
    s.whole_graphs = flip();
    s.nccl_profiler = flip();
  }

  void fill_limits_and_output(Spec& s) {
    s.limits.host_memory = kLeastMemory + random_();
    s.limits.window_seconds = 0.001 * static_cast<double>(1 + random_() % 1000000);
    s.limits.trace_size = std::uint64_t{1} << (16 + random_() % 20);
    s.limits.total_traces = 1 + number(1000);
    s.limits.memory_entries = number(1000);
    s.limits.disk_free = flip() ? 0 : random_();
    s.limits.on_limit = static_cast<OnLimit>(random_() % 3);
    s.output.folder = flip() ? "/a b/{run_name}-{job_id}" : "x\"y";
    s.output.filename = flip() ? "{host}/w{window}.json" : "r{rank}.json.gz";
    s.output.gzip = static_cast<Gzip>(random_() % 3);
    s.output.gzip_level = 1 + static_cast<int>(random_() % 9);
    s.output.overwrite = static_cast<Overwrite>(random_() % 3);
    s.output.niceness = static_cast<int>(random_() % 20);
    s.output.exit_seconds = number(3601);
    s.output.write_all = flip();
    s.output.traces_to_keep = number(5) + 1;
    s.output.keep_bytes = random_();
    s.finish.command = text();
    s.finish.ranks = flip() ? "" : "local:0";
    s.finish.after_each_window = flip();
    s.finish.timeout_seconds = 1 + number(1000);
    s.clock_sync = static_cast<ClockSync>(random_() % 3);
    s.device_timing = static_cast<DeviceTiming>(random_() % 3);
  }

  std::mt19937 random_{7};
};

TEST(SpecText, AnySpecLoadsBackToItself) {
  RandomSpecs specs;
  for (int round = 0; round < 100; ++round) {
    const Spec spec = specs.next();

    const LoadedSpec loaded = load_spec_text(spec.to_toml(), "round");

    ASSERT_TRUE(loaded.problems.empty()) << to_line(loaded.problems[0]) << "\n" << spec.to_toml();
    ASSERT_EQ(loaded.spec.to_toml(), spec.to_toml());
    ASSERT_EQ(loaded.spec.hash(), spec.hash());
  }
}

TEST(SpecText, TheHashIsSixteenDigitsAndChangesWithAnyKey) {
  Spec spec;
  const std::string before = spec.hash();
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(before.find_first_not_of("0123456789abcdef"), std::string::npos);
  spec.output.niceness = 11;
  EXPECT_NE(spec.hash(), before);
}

TEST(Reference, HoldsEveryKeyWithItsDefault) {
  const LoadedSpec loaded = load_spec_text(test::read_all(PROFSHIM_SOURCE_DIR "/config/reference.toml"), "reference");
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_EQ(loaded.spec.to_toml(), Spec().to_toml());
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    EXPECT_NE(origin.origin, "default") << origin.key << " is missing in config/reference.toml";
  }
}

TEST(Keys, EachHasAllItsFields) {
  ASSERT_GT(spec_keys().size(), 40u);
  for (const KeyInfo& key : spec_keys()) {
    EXPECT_FALSE(key.type.empty() || key.values.empty() || key.default_value.empty() || key.sentence.empty())
        << key.name;
  }
}

TEST(Examples, LoadWithoutAProblem) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PROFSHIM_SOURCE_DIR "/config/examples")) {
    if (entry.path().extension() != ".toml") continue;
    SpecSources sources;
    sources.file = entry.path();

    const LoadedSpec loaded = load_spec(sources);

    EXPECT_TRUE(loaded.problems.empty()) << to_line(loaded.problems[0]);
    ++seen;
  }
  EXPECT_GE(seen, 3);
}

}  // namespace
}  // namespace profshim
