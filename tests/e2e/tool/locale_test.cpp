#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/locales.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr char kGolden[] = PROFSHIM_SOURCE_DIR "/tests/golden/";

constexpr const char* kRules = R"(version = 1
[steps]
source = "none"
[limits]
window_seconds = 1234.5
[[check.rule]]
metric = "step_time_us"
max = 1234567.5
)";

/// Returns everything that the tool prints and writes for a list of commands. The tool itself never calls setlocale().
std::string answers(const ScratchFolder& inputs, const std::string& locale) {
  const ScratchFolder scratch;
  const std::string ddp = std::string(kGolden) + "traces/hta-ddp-nccl-3steps.json.gz";
  const std::string graphs = std::string(kGolden) + "traces/hta-cuda-graphs-excerpt.json.gz";
  const std::string gpu = kGolden + std::string("gpu/") + "rank1.5.pt.trace.json";
  const std::vector<std::vector<std::string>> commands = {
      {"summary", ddp},
      {"summary", "--json", "--kernels", "--steps", "--comms", "--mpi", "--gap-us", "0.5", ddp},
      {"summary", "--csv", "--kernels", "--steps", "--comms", "--gap-us", "+1e2", ddp},
      {"summary", "--time-unit", "MS", "--row-limit", "-1", "--kernels", "--steps", gpu},
      {"summary", "--gap-us", "0,5", ddp},
      {"report", ddp, "-o", "report.html"},
      {"verify", "--json", ddp, graphs, gpu},
      {"merge", inputs / "ranks", "-o", "merged.pt.trace.json", "--sync", "ANCHORS"},
      {"convert", ddp, "-o", "one.pftrace"},
      {"compare", "--update-baseline", "base.json", inputs / "ranks"},
      {"compare", "base.json", inputs / "ranks", "--tolerance", "0.25", "--floor-us", "1.5", "--markdown", "compare.md",
       "--junit", "compare.xml", "--json"},
      {"compare", "base.json", inputs / "ranks", "--tolerance", "1,5"},
      {"explain", inputs / "spec.toml", "--set", "system.interval_seconds=0.25", "--events-per-step", "1234567"},
      {"explain", "--json", inputs / "spec.toml"},
      {"explain", "--steps", ddp},
      {"check", inputs / "spec.toml"},
      {"schedule", "--steps", "20"},
      {"init", ddp},
      {"keys", "--toml"},
      {"ls", "/none"},
      {"ls", inputs / "ranks"}};
  std::string all;
  for (const auto& words : commands) {
    Job job{.command = {tool_path()}, .environment = in_locale(locale == "C" ? "de_DE.UTF-8" : locale)};
    job.command.insert(job.command.end(), words.begin(), words.end());
    job.environment.emplace_back("LD_PRELOAD", set_locale_library());
    if (locale == "C") job.environment[0].second = "C";
    job.folder = scratch.path();
    const Outcome outcome = run(job);
    all += "== " + words[0] + ": " + outcome.ending() + "\n" + outcome.out + outcome.err;
  }
  for (const std::string& file : files_below(scratch.path())) {
    if (!std::filesystem::is_directory(scratch / file)) all += "== " + file + "\n" + text_of_file(scratch / file);
  }
  return all;
}

std::string first_difference(const std::string& a, const std::string& b) {
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const std::size_t from = at - std::min<std::size_t>(at, 200);
  return "in C: ..." + a.substr(from, 300) + "\nhere: ..." + b.substr(from, 300);
}

TEST(LocaleOfTheTool, ChangesNoAnswer) {
  const ScratchFolder inputs;
  inputs.write("spec.toml", kRules);
  Job ranks{.command = {PROFSHIM_BUILD_DIR "/tests/apps_trace/gpu_ranks", inputs / "ranks"}, .preload = false};
  std::filesystem::create_directory(inputs / "ranks");
  ASSERT_EQ(run(ranks).ending(), "exit 0");

  const std::string in_c = answers(inputs, "C");

  EXPECT_NE(in_c.find("\"0,5\" is not a number"), std::string::npos);
  EXPECT_NE(in_c.find("\"1,5\" is not a number"), std::string::npos);
  for (const std::string locale : kOtherLocales) {
    const std::string here = answers(inputs, locale);
    EXPECT_TRUE(here == in_c) << locale << "\n" << first_difference(in_c, here);
  }
}

}  // namespace
}  // namespace profshim::e2e
