#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Cells are two or more blanks apart.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = line.find("  ", at);
    cells.push_back(line.substr(at, end - at));
    at = end == std::string::npos ? end : line.find_first_not_of(' ', end);
  }
  return cells;
}

// PyTorch adds fractions of microseconds in floating point: "3.695us" may be "3.696us".
bool alike(const std::string& ours, const std::string& theirs) {
  if (ours == theirs) return true;
  char *our_unit = nullptr, *their_unit = nullptr;
  const double a = std::strtod(ours.c_str(), &our_unit), b = std::strtod(theirs.c_str(), &their_unit);
  if (our_unit == ours.c_str() || std::string(our_unit) != their_unit) return false;
  const double last_digit = *our_unit == '%' ? 0.01 : 0.001;
  return std::abs(a - b) < 1.01 * last_digit;
}

void expect_the_same_table(const std::string& ours, const std::string& theirs) {
  const auto our_lines = lines_of(ours), their_lines = lines_of(theirs);
  ASSERT_GE(our_lines.size(), their_lines.size()) << ours << theirs;
  ASSERT_GT(their_lines.size(), 20u) << theirs;
  for (std::size_t i = 0; i < their_lines.size(); ++i) {
    EXPECT_EQ(our_lines[i].size(), their_lines[i].size()) << our_lines[i] << "\n" << their_lines[i];
    const auto our_cells = cells_of(our_lines[i]), their_cells = cells_of(their_lines[i]);
    ASSERT_EQ(our_cells.size(), their_cells.size()) << our_lines[i] << "\n" << their_lines[i];
    for (std::size_t j = 0; j < our_cells.size(); ++j) {
      EXPECT_TRUE(alike(our_cells[j], their_cells[j])) << our_lines[i] << "\n" << their_lines[i];
    }
  }
}

struct Tables {
  std::string ours, theirs;
};

Tables tables(const ScratchFolder& scratch, const std::string& what, std::vector<std::string> options) {
  Job job = torch_job(scratch, Launch::kAlone, "profiler/key_averages.py " + scratch.path() + " " + what);
  job.preload = false;
  const Outcome outcome = run(job);
  // The profiler of Debian's PyTorch 2.6 crashes when recording stacks.
  if (outcome.ending() == "signal 11") return {};
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  std::vector<std::string> command = {"summary",  scratch / "trace.json", "--sort-by", "none", "--row-limit", "-1",
                                      "--header", "as PyTorch prints it"};
  command.insert(command.end(), options.begin(), options.end());
  const Outcome summary = profshim(command);
  EXPECT_EQ(summary.ending(), "exit 0") << summary.err;
  return {summary.out, text_of_file(scratch / "table.txt")};
}

TEST(TorchSummary, EqualsTheTableThatPyTorchPrints) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Tables both = tables(scratch, "", {});

  expect_the_same_table(both.ours, both.theirs);
}

TEST(TorchSummary, EqualsTheTableThatPyTorchPrintsWithMemoryAndShapes) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;

  const Tables both = tables(scratch, "memory", {"--group-by-shapes"});
  if (both.theirs.find(" Kb ") != std::string::npos)
    GTEST_SKIP() << "a PyTorch that writes Kb, and gives memory to other operators: 2.6 and before";

  EXPECT_NE(both.theirs.find("Self CPU Mem"), std::string::npos);
  EXPECT_NE(both.theirs.find("Input Shapes"), std::string::npos);
  expect_the_same_table(both.ours, both.theirs);
}

// PyTorch subtracts the time of Python functions, which have no rows.
TEST(TorchSummary, NoSelfTimeIsNegativeForPythonFunctions) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;

  const Tables both = tables(scratch, "stack", {});
  if (both.theirs.empty()) GTEST_SKIP() << "this PyTorch's own profiler breaks";

  EXPECT_FALSE(std::regex_search(both.ours, std::regex("-[0-9]"))) << both.ours;
  EXPECT_EQ(lines_of(both.ours).size(), lines_of(both.theirs).size() + 3) << both.theirs;
}

}  // namespace
}  // namespace profshim::e2e
