#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <stdexcept>

#include "unit/analysis/compare/made_runs.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using test::noisy_run;

TEST(Compare, ABaselineComesBackAsItWas) {
  const test::TemporaryFolder folder;
  std::mt19937 random(17);
  std::vector<RunProfile> runs = {noisy_run(random, 0.02), noisy_run(random, 0.02)};
  runs[0].machine = {.cpus = 4, .own = 1.5, .others = 0.25, .waited = 1.7749996185, .stolen = 0.5};
  runs[0].ranks[1].cpus_used = 0.75;
  runs[0].ranks[0].cpu_ns.assign(test::kSteps, 900);
  runs[0].ranks[0].waiting_ns.assign(test::kSteps, 30);
  runs[0].ranks[0].cpu_ns[3] = -1;
  runs[1].phase = "actor";
  test::phase(runs[0].ranks[0], "actor", 5000).launches[1] = 9;
  test::phase(runs[0].ranks[0], "rollout", 7000);
  const std::string path = folder.path() + "/base.json";
  std::ofstream(path) << baseline_text(runs);

  EXPECT_TRUE(is_baseline(path));
  const std::vector<RunProfile> read = read_baseline(path);

  EXPECT_EQ(baseline_text(read), baseline_text(runs));
  ASSERT_TRUE(read[0].machine.has_value());
  EXPECT_EQ(read[0].machine->waited, 1.7749996185) << "a report rounds it";
  EXPECT_EQ(read[0].machine->stolen, 0.5);
  EXPECT_FALSE(read[1].machine.has_value());
  EXPECT_EQ(read[0].ranks[1].cpus_used, 0.75);
  EXPECT_EQ(read[1].ranks[1].cpus_used, -1);
  EXPECT_EQ(read[0].ranks[0].cpu_ns, runs[0].ranks[0].cpu_ns);
  EXPECT_EQ(read[0].ranks[0].waiting_ns[5], 30);
  EXPECT_TRUE(read[1].ranks[0].cpu_ns.empty());
  EXPECT_EQ(read[1].phase, "actor");
  ASSERT_EQ(read[0].ranks[0].phases.size(), 2u);
  EXPECT_EQ(read[0].ranks[0].phases.at("actor").launches[1], 9);
  EXPECT_EQ(read[0].ranks[0].phases.at("rollout").time_ns[0], 7000);
}

TEST(Compare, ADamagedBaselineIsNone) {
  const test::TemporaryFolder folder;
  std::mt19937 random(18);
  const std::string whole = baseline_text({noisy_run(random, 0.02)}), path = folder.path() + "/base.json";
  const auto refused = [&](std::string text) {
    std::ofstream(path) << text;
    try {
      read_baseline(path);
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).starts_with(path + ": ");
    }
    return false;
  };
  std::string short_list = whole, other_version = whole;
  short_list.replace(short_list.find("\"launches\": [1,"), 15, "\"launches\": [");
  other_version.replace(other_version.find(": 1"), 3, ": 9");

  EXPECT_TRUE(refused(whole.substr(0, whole.size() / 2)));
  EXPECT_TRUE(refused("{\"profshim_baseline\": 1, \"runs\": []}"));
  EXPECT_TRUE(refused(short_list));
  EXPECT_TRUE(refused(other_version));
  EXPECT_TRUE(refused("{}"));
}

}  // namespace
}  // namespace profshim
