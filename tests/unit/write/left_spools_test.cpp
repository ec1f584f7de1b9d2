#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profshim/write/recover.h"
#include "unit/spool_fixture.h"

namespace profshim::write {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHour_ns = 3'600'000'000'000;

class LeftSpools : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(16);
    memory_ = folder_.path() + "/memory";
    run_ = folder_.path() + "/run";
    fs::create_directory(memory_);
    recorder::header().host = recorder::intern("elsewhere");
    recorder::header().folder = recorder::intern(run_);
    recorder::add_metadata("run_id", "\"0123456789abcdef\"");
    now_ns_ = realtime_ns();
  }

  /// The spool of a process whose last sign of life is that old.
  std::string leave(const std::string& name, std::int64_t age_ns) {
    recorder::add_anchor({1, 1, now_ns_ - age_ns});
    const std::string path = memory_ + "/profshim-" + std::to_string(getuid()) + "-" + name + ".spool";
    fs::copy_file(folder_.path() + "/test.spool", path);
    return path;
  }
  void make_run(const std::string& id) const {
    fs::create_directory(run_);
    std::ofstream(run_ + "/.profshim-run") << "profshim run\njob 1\nid " << id << "\nbase 1\n";
  }
  std::vector<LeftSpool> found() const { return spools_without_run(memory_, 100); }

  std::string memory_, run_;
  std::int64_t now_ns_ = 0;
};

TEST_F(LeftSpools, ASpoolWhoseFolderIsGoneIsFound) {
  const std::string path = leave("a", kHour_ns);

  const auto left = found();

  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].path, path);
  EXPECT_EQ(left[0].folder, run_);
  EXPECT_EQ(left[0].run_id, "0123456789abcdef");
  EXPECT_EQ(run_id_of_spool(path), "0123456789abcdef");
}

TEST_F(LeftSpools, OneWhoseFolderHoldsItsRunIsNotLeft) {
  leave("a", kHour_ns);
  make_run("0123456789abcdef");

  EXPECT_TRUE(found().empty());
}

TEST_F(LeftSpools, OneWhoseFolderHoldsAnotherRunIsFound) {
  leave("a", kHour_ns);
  make_run("fedcba9876543210");

  EXPECT_EQ(found().size(), 1u);
}

TEST_F(LeftSpools, ALiveProcessIsNotFound) {
  leave("a", 0);

  EXPECT_TRUE(found().empty());
}

// The job that recovers ends meanwhile: it must not wait.
TEST_F(LeftSpools, ARecoveryThatIsGivenUpKeepsTheSpool) {
  recorder::tend_pool([] { return Ticks{1}; }, 8);
  recorder::open_window(100, spool::kNoMark);
  commit_at(110);
  const std::string path = leave("a", kHour_ns);
  make_run("0123456789abcdef");
  std::vector<RecoverNote> notes;
  bool ends = true;
  RecoverOptions options;
  options.give_up = [&] { return ends; };

  EXPECT_EQ(recover_spool(path, options, notes), RecoverOutcome::kFailed);

  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(fs::exists(run_ + "/step0"));
  ends = false;
  EXPECT_EQ(recover_spool(path, options, notes), RecoverOutcome::kRecovered);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(LeftSpools, TheyAreKeptForADay) {
  const std::string old_one = leave("a", 25 * kHour_ns), new_one = leave("b", 23 * kHour_ns);

  remove_old_spools(memory_, found(), now_ns_);

  EXPECT_FALSE(fs::exists(old_one));
  EXPECT_TRUE(fs::exists(new_one));
}

TEST_F(LeftSpools, TheNewestThatFitIntoAnEighthOfTheMemoryAreKept) {
  leave("a", 9 * kHour_ns);
  leave("b", 2 * kHour_ns);
  leave("c", kHour_ns);
  std::vector<LeftSpool> left = found();
  ASSERT_EQ(left.size(), 3u);
  const std::string newest = left[2].path;
  left[1].bytes = 1ull << 60;

  remove_old_spools(memory_, left, now_ns_);

  EXPECT_EQ(found().size(), 1u);
  EXPECT_TRUE(fs::exists(newest));
}

TEST_F(LeftSpools, TheFolderOfAnotherRunKeepsNoLinkToARemovedSpool) {
  const std::string path = leave("a", 25 * kHour_ns);
  make_run("fedcba9876543210");
  fs::create_symlink(path, run_ + "/.rank0-1.spool");
  fs::create_symlink(memory_ + "/of-the-other", run_ + "/.rank1-1.spool");

  remove_old_spools(memory_, found(), now_ns_);

  EXPECT_FALSE(fs::is_symlink(run_ + "/.rank0-1.spool"));
  EXPECT_TRUE(fs::is_symlink(run_ + "/.rank1-1.spool"));
}

}  // namespace
}  // namespace profshim::write
