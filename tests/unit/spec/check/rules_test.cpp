#include <gtest/gtest.h>

#include "profshim/spec.h"

namespace profshim {
namespace {

constexpr const char* kText =
    "version = 1\n[check]\nmin_traces = 8\nranks = \"all\"\ncomplete = true\n"
    "[[check.rule]]\nmetric = \"launches_per_step\"\nmax = 12\n"
    "[[check.rule]]\nmetric = \"kernel_us\"\nname = \"*stencil*\"\nphase = \"solve\"\nbaseline = "
    "\"ci/baseline.json\"\ntolerance = 0.15\n";

TEST(CheckRules, AreReadInTheirOrder) {
  const LoadedSpec loaded = load_spec_text(kText, "ci.toml");

  ASSERT_TRUE(loaded.ok()) << to_line(loaded.problems.front());
  EXPECT_EQ(loaded.spec.check.min_traces, 8);
  EXPECT_EQ(loaded.spec.check.ranks, "all");
  EXPECT_TRUE(loaded.spec.check.complete);
  const auto& rules = loaded.spec.check.rules;
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].metric, CheckMetric::kLaunches);
  EXPECT_EQ(rules[0].max, 12.0);
  EXPECT_FALSE(rules[0].min.has_value());
  EXPECT_EQ(rules[0].line, 6);
  EXPECT_EQ(rules[1].metric, CheckMetric::kKernelUs);
  EXPECT_EQ(rules[1].name, "*stencil*");
  EXPECT_EQ(rules[1].phase, "solve");
  EXPECT_EQ(rules[1].baseline, "ci/baseline.json");
  EXPECT_EQ(rules[1].tolerance, 0.15);
}

// `recover` reads the canonical text.
TEST(CheckRules, ComeBackFromTheCanonicalText) {
  const std::string text = load_spec_text(kText, "ci.toml").spec.to_toml();

  const LoadedSpec again = load_spec_text(text, "again");

  EXPECT_TRUE(again.ok()) << text;
  EXPECT_EQ(again.spec.to_toml(), text);
  ASSERT_EQ(again.spec.check.rules.size(), 2u);
  EXPECT_EQ(again.spec.check.rules[1].tolerance, 0.15);
  EXPECT_EQ(again.spec.check.rules[1].phase, "solve");
}

TEST(CheckRules, NamePhasesOfTheSpecIfItHasAny) {
  const std::string rule = "version = 1\n[[check.rule]]\nmetric = \"step_us\"\nmax = 9\nphase = \"actr\"\n";

  const LoadedSpec loaded = load_spec_text(rule + "[[phase]]\nname = \"actor\"\nnvtx = \"a*\"\n", "ci.toml");

  EXPECT_TRUE(load_spec_text(rule, "ci.toml").ok());
  ASSERT_EQ(loaded.problems.size(), 1u);
  EXPECT_EQ(to_line(loaded.problems[0]),
            "ci.toml:5:9: check.rule: no [[phase]] has the name \"actr\"; did you mean \"actor\"?");
}

TEST(CheckRules, AreNotTakenFromTheEnvironment) {
  SpecSources sources;
  sources.options.emplace_back("--set", "check.rule=x");

  const LoadedSpec loaded = load_spec(sources);

  ASSERT_FALSE(loaded.problems.empty());
  EXPECT_EQ(loaded.problems.front().message, "can be given in a spec file only");
}

}  // namespace
}  // namespace profshim
