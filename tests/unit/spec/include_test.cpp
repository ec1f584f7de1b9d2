#include <gtest/gtest.h>

#include "unit/spec/spec_folder.h"

namespace profshim {
namespace {

using Include = SpecFolder;

TEST_F(Include, LaterFilesOverrideAndTheIncludingFileWins) {
  write("sub/a.toml", "version=1\n[ranks]\nselect=\"1\"\n[schedule]\nactive=5\nwait=6\n");
  write("sub/b.toml", "version=1\n[schedule]\nactive=7\n");
  write("main.toml", "version=1\ninclude.files=[\"sub/a.toml\", \"sub/b.toml\"]\n[ranks]\nselect=\"2\"\n");
  const LoadedSpec loaded = load("main.toml");
  EXPECT_EQ(lines_of(loaded), "");
  EXPECT_EQ(loaded.spec.ranks.select.text(), "2");
  EXPECT_EQ(loaded.spec.schedule.active, 7);
  EXPECT_EQ(origin_of(loaded, "schedule.wait"), "6 from " + (folder_ / "sub/a.toml").string() + ":6");
}

TEST_F(Include, PathsAreRelativeToTheFileThatHoldsThem) {
  write("sub/deep/c.toml", "version=1\n[schedule]\nactive=9\n");
  write("sub/a.toml", "version=1\ninclude.files=[\"deep/c.toml\"]\n");
  write("main.toml", "version=1\ninclude.files=[\"sub/a.toml\"]\n");
  EXPECT_EQ(load("main.toml").spec.schedule.active, 9);
}

TEST_F(Include, CircleIsRefused) {
  write("a.toml", "version=1\ninclude.files=[\"b.toml\"]\n");
  write("b.toml", "version=1\ninclude.files=[\"./a.toml\"]\n");
  EXPECT_NE(lines_of(load("a.toml")).find("includes itself"), std::string::npos);
}

TEST_F(Include, DiamondIsAcceptedAndReportsProblemsOnce) {
  write("base.toml", "version=1\n[schedule]\nactive=0\n");
  write("a.toml", "version=1\ninclude.files=[\"base.toml\"]\n");
  write("b.toml", "version=1\ninclude.files=[\"base.toml\"]\n");
  write("main.toml", "version=1\ninclude.files=[\"a.toml\",\"b.toml\"]\n");
  EXPECT_EQ(load("main.toml").problems.size(), 1u);
}

std::vector<int> chosen(const LoadedSpec& loaded, int world) {
  std::vector<int> out;
  for (int r = 0; r < world; ++r) {
    Rank rank;
    rank.rank = r;
    rank.world_size = world;
    if (loaded.spec.ranks.select.selects(rank)) out.push_back(r);
  }
  return out;
}

TEST_F(Include, RankSetsAreCombinedAsSets) {
  const auto combine = [&](const char* how, const char* first, const char* second) {
    write("first.toml", "version=1\nranks.select=\"" + std::string(first) + "\"\n");
    write("main.toml", "version=1\ninclude={files=[\"first.toml\"],combine=\"" + std::string(how) +
                           "\"}\nranks.select=\"" + second + "\"\n");
    return load("main.toml");
  };
  EXPECT_EQ(chosen(combine("intersection", "all", "3"), 8), (std::vector<int>{3}));
  EXPECT_EQ(chosen(combine("union", "0", "3"), 8), (std::vector<int>{0, 3}));
  EXPECT_EQ(chosen(combine("override", "0", "3"), 8), (std::vector<int>{3}));
  EXPECT_EQ(chosen(combine("intersection", "0-3, 6", "!2 & 1-7"), 8), (std::vector<int>{1, 3, 6}));
  EXPECT_EQ(chosen(combine("union", "0 & 1", "3"), 8), (std::vector<int>{3}));
  EXPECT_FALSE(combine("intersection", "1", "2").ok());
}

TEST_F(Include, RankSetIsNotResetByAFileThatOmitsIt) {
  write("first.toml", "version=1\nschedule.active=2\n");
  write("main.toml", "version=1\ninclude={files=[\"first.toml\"],combine=\"intersection\"}\nranks.select=\"3\"\n");
  EXPECT_EQ(chosen(load("main.toml"), 8), (std::vector<int>{3}));
}

TEST_F(Include, ListsAreCombinedAsSets) {
  write("a.toml",
        "version=1\n[capture]\nactivities=[\"cpu\",\"mpi\"]\n[schedule]\nsteps=[\"1-5\"]\n[process]\nmatch=[\"x\"]\n");
  const std::string rest =
      "[capture]\nactivities=[\"mpi\",\"nvtx\"]\n[schedule]\nsteps=[\"4-9\"]\n[process]\nmatch=[\"x\",\"y\"]\n";
  write("u.toml", "version=1\ninclude={files=[\"a.toml\"],combine=\"union\"}\n" + rest);
  write("i.toml", "version=1\ninclude={files=[\"a.toml\"],combine=\"intersection\"}\n" + rest);

  const Spec both = load("u.toml").spec;
  EXPECT_TRUE(both.activities.cpu && both.activities.mpi && both.activities.nvtx);
  EXPECT_EQ(both.schedule.steps.at(0).last, 9);
  EXPECT_EQ(both.process.match.size(), 2u);
  const Spec common = load("i.toml").spec;
  EXPECT_TRUE(common.activities.mpi);
  EXPECT_FALSE(common.activities.cpu || common.activities.nvtx);
  EXPECT_EQ(common.schedule.steps.at(0).first, 4);
  EXPECT_EQ(common.schedule.steps.at(0).last, 5);
  EXPECT_EQ(common.process.match, (std::vector<std::string>{"x"}));
}

TEST_F(Include, SpecWithoutAFileCannotInclude) {
  EXPECT_FALSE(load_spec_text("version=1\ninclude.files=[\"/etc/passwd\"]\n", "text").ok());
}

}  // namespace
}  // namespace profshim
