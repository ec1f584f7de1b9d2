#include "profshim/write/retention.h"

#include <gtest/gtest.h>

namespace profshim::write {
namespace {

run::ManifestWindow written(int number, std::uint64_t bytes = 10, const std::string& phase = "") {
  run::ManifestWindow window;
  window.window = number;
  window.file = "w" + std::to_string(number);
  window.bytes = bytes;
  window.status = "written";
  window.phase = phase;
  return window;
}

std::vector<std::int64_t> numbers(const std::vector<run::ManifestWindow>& windows) {
  std::vector<std::int64_t> numbers;
  for (const run::ManifestWindow& window : windows) numbers.push_back(window.window);
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

Spec keeping(std::int64_t traces, std::uint64_t bytes = 0) {
  Spec spec;
  spec.output.traces_to_keep = traces;
  spec.output.keep_bytes = bytes;
  return spec;
}

TEST(Retention, KeepsAllByDefault) {
  std::vector<run::ManifestWindow> windows = {written(0), written(1)};
  EXPECT_TRUE(take_old({}, windows).empty());
  EXPECT_EQ(numbers(windows), (Numbers{0, 1}));
}

TEST(Retention, KeepsTheNewest) {
  std::vector<run::ManifestWindow> windows = {written(0), written(1), written(2), written(3)};
  EXPECT_EQ(numbers(take_old(keeping(2), windows)), (Numbers{1, 0}));
  EXPECT_EQ(numbers(windows), (Numbers{2, 3}));
}

TEST(Retention, WindowsWithoutATraceDoNotCount) {
  std::vector<run::ManifestWindow> windows = {written(0), written(1), written(2)};
  windows[1].file.clear();
  windows[1].status = "failed: no space";
  EXPECT_TRUE(take_old(keeping(2), windows).empty());
}

TEST(Retention, CountsStepsAndEachPhaseApart) {
  std::vector<run::ManifestWindow> windows = {written(0), written(1, 10, "a"), written(2, 10, "a"),
                                              written(3, 10, "b")};
  EXPECT_EQ(numbers(take_old(keeping(1), windows)), (Numbers{1}));
}

TEST(Retention, KeepsTheNewestThatFit) {
  std::vector<run::ManifestWindow> windows = {written(0, 1), written(1, 50), written(2, 40), written(3, 30)};
  EXPECT_EQ(numbers(take_old(keeping(-1, 75), windows)), (Numbers{1, 0}));
}

TEST(Retention, NeverRemovesTheNewest) {
  std::vector<run::ManifestWindow> windows = {written(0, 500), written(1, 500)};
  EXPECT_EQ(numbers(take_old(keeping(-1, 75), windows)), (Numbers{0}));
}

TEST(Retention, TracesThatAwaitTheFinishCommandStay) {
  std::vector<run::ManifestWindow> windows = {written(0), written(1), written(2)};
  windows[0].awaits_finish = true;
  EXPECT_EQ(numbers(take_old(keeping(1), windows)), (Numbers{1}));
  EXPECT_EQ(numbers(windows), (Numbers{0, 2}));
}

}  // namespace
}  // namespace profshim::write
