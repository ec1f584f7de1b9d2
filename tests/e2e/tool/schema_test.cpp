// The JSON schema of the spec, as a validator that editors could use reads it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "e2e/consumers/readers.h"
#include "e2e/support/scratch_folder.h"
#include "profshim/spec.h"

namespace profshim::e2e {
namespace {

const std::string kSource = PROFSHIM_SOURCE_DIR;

std::vector<std::string> specs_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns "ok", "refused: ..." or "no TOML" by path.
std::map<std::string, std::string> verdicts(const std::vector<std::string>& specs) {
  std::vector<std::string> arguments = {kSource + "/config/profshim.schema.json"};
  arguments.insert(arguments.end(), specs.begin(), specs.end());
  const Outcome outcome = ask_reader("check_with_schema.py", arguments);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  std::map<std::string, std::string> verdict;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(".toml: ");
    if (colon != std::string::npos) verdict[line.substr(0, colon + 5)] = line.substr(colon + 7);
  }
  return verdict;
}

bool is_valid(const std::string& spec) {
  SpecSources sources;
  sources.file = spec;
  return load_spec(sources).ok();
}

TEST(SpecSchema, AcceptsEverySpecThatTheLoaderAccepts) {
  const ScratchFolder scratch;
  std::vector<std::string> specs = specs_below(kSource + "/config");
  EXPECT_GE(specs.size(), 8u);
  for (const std::string& spec : specs_below(kSource + "/tests/fuzz/corpus/spec")) {
    if (is_valid(spec)) specs.push_back(spec);
  }
  specs.push_back(
      scratch.write("words.toml",
                    "version = 1\nprofile.enable = \"yes\"\noutput.gzip = true\noutput.overwrite = \"new\"\n"
                    "limits.host_memory = \"1.5 GiB\"\nlimits.disk_free = 0\nlimits.window_seconds = 0.5\n"
                    "schedule.steps = \"1, 4-6\"\nranks.select = \"node:0-1 & !(local:0,host:gpu[0-3])\"\n"
                    "check.ranks = \"\"\n[[check.rule]]\nmetric = \"kernel_us\"\nname = \"*gemm*\"\n"
                    "baseline = \"b.json\"\ntolerance = 0.1\n[[phase]]\nname = \"a\"\nthread = \"io*\"\n"
                    "mode = \"window\"\nschedule = { steps = [\"2-3\", 7] }\n"));
  EXPECT_TRUE(is_valid(specs.back()));

  const auto verdict = verdicts(specs);

  ASSERT_EQ(verdict.size(), specs.size());
  for (const auto& [spec, text] : verdict) EXPECT_EQ(text, "ok") << spec;
}

TEST(SpecSchema, RefusesBadSpecsUnlessTheReasonIsBeyondASchema) {
  // Reasons: the order of two numbers, the meaning of a name or path, keys that need each other (an included file may
  // have one of them), the contents of other files, the bytes of a size, and 3.0, which is an integer in JSON.
  const std::vector<std::string> beyond = {"031-float-as-number",
                                           "045-backward-step-range",
                                           "049-rank-expression-unclosed",
                                           "051-rank-expression-backwards",
                                           "056-rank-expression-nobody",
                                           "058-kernel-without-pattern",
                                           "059-every-profiler-range",
                                           "061-symbol-without-pattern",
                                           "062-collective-without-pattern",
                                           "063-collective-unknown",
                                           "064-time-without-every-ms",
                                           "065-edge-end-with-symbol",
                                           "066-edge-end-with-time",
                                           "067-edge-end-without-steps",
                                           "069-epoch-without-pattern",
                                           "070-epoch-with-absolute-numbers",
                                           "078-size-too-small",
                                           "082-cloud-folder",
                                           "083-unknown-variable",
                                           "084-unclosed-variable",
                                           "085-window-variable-in-folder",
                                           "086-filename-absolute",
                                           "087-filename-leaves-folder",
                                           "088-folder-empty",
                                           "094-run-name-with-slash",
                                           "097-include-itself",
                                           "098-include-missing",
                                           "099-include-bad-file",
                                           "102-intersection-of-ranks-empty",
                                           "103-intersection-of-steps-empty",
                                           "114-rule-min-above-max",
                                           "116-rule-name-without-effect",
                                           "126-phase-that-selects-nobody",
                                           "129-rule-unknown-phase",
                                           "132-kernel-steps-without-cupti",
                                           "133-keep-none-without-finish",
                                           "134-finish-ranks-nobody",
                                           "135-system-interval-too-small",
                                           "141-capture-modules-without-stacks",
                                           "144-python-files-without-calls",
                                           "145-process-start-of-all"};
  std::vector<std::string> specs = specs_below(kSource + "/tests/golden/bad_specs");
  std::erase_if(specs, [](const std::string& spec) { return spec.find("/parts/") != std::string::npos; });

  const auto verdict = verdicts(specs);

  ASSERT_EQ(verdict.size(), specs.size());
  std::vector<std::string> accepted;
  for (const auto& [spec, text] : verdict) {
    if (text == "ok") accepted.push_back(std::filesystem::path(spec).stem());
  }
  EXPECT_EQ(accepted, beyond);
}

}  // namespace
}  // namespace profshim::e2e
