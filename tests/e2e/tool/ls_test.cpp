#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "e2e/support/built_programs.h"
#include "profshim/run/manifest.h"
#include "profshim/trace/reader.h"

namespace profshim {
namespace {

namespace fs = std::filesystem;

class Ls : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "profshim-ls-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  run::Manifest manifest(int rank) {
    run::Manifest m;
    m.rank.rank = rank;
    m.rank.host = "elsewhere";
    m.state = "finished";
    m.spec_hash = "0123456789abcdef";
    m.windows.push_back({.window = 0,
                         .first_step = 11,
                         .last_step = 13,
                         .file = "step11/rank" + std::to_string(rank) + ".11.pt.trace.json",
                         .bytes = 4,
                         .status = "written"});
    return m;
  }
  void add(const run::Manifest& m) {
    for (const auto& window : m.windows) file(window.file);
    EXPECT_TRUE(run::write_manifest(folder_, m));
  }
  void file(const std::string& name) {
    fs::create_directories((fs::path(folder_) / name).parent_path());
    std::ofstream(fs::path(folder_) / name) << "{}  ";
  }

  int ls(const std::string& arguments = {}) {
    const std::string command = e2e::tool_path() + " ls " + folder_ + " " + arguments + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    char part[4096];
    output_.clear();
    for (std::size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) output_.append(part, n);
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool says(const std::string& text) const { return output_.find(text) != std::string::npos; }

  std::string folder_, output_;
};

TEST_F(Ls, ListsConsistentRanks) {
  add(manifest(0));
  add(manifest(1));

  EXPECT_EQ(ls(), 0) << output_;
  EXPECT_TRUE(says("11-13")) << output_;
  EXPECT_TRUE(says("2 ranks, 2 files")) << output_;
}

TEST_F(Ls, FlagsTheRankWithOtherSteps) {
  add(manifest(0));
  add(manifest(1));
  run::Manifest other = manifest(2);
  other.windows[0].first_step = 12;
  add(other);

  EXPECT_EQ(ls(), 1);
  EXPECT_TRUE(says("rank 2: window 0 holds steps 12-13, on most ranks 11-13")) << output_;
}

TEST_F(Ls, FlagsTheRankWithAnotherSpec) {
  add(manifest(0));
  add(manifest(1));
  run::Manifest other = manifest(2);
  other.spec_hash = "fedcba9876543210";
  add(other);

  EXPECT_EQ(ls(), 1);
  EXPECT_TRUE(says("rank 2: different spec")) << output_;
}

TEST_F(Ls, FlagsFilesThatNoManifestNames) {
  add(manifest(0));
  file("step11/rank7.11.pt.trace.json");

  EXPECT_EQ(ls(), 1);
  EXPECT_TRUE(says("rank7.11.pt.trace.json is in no manifest")) << output_;
}

TEST_F(Ls, FlagsFilesThatAreMissingOrOfAnotherSize) {
  add(manifest(0));
  add(manifest(1));
  fs::remove(fs::path(folder_) / "step11/rank0.11.pt.trace.json");
  fs::resize_file(fs::path(folder_) / "step11/rank1.11.pt.trace.json", 3);

  EXPECT_EQ(ls(), 1);
  EXPECT_TRUE(says("rank 0: step11/rank0.11.pt.trace.json is missing")) << output_;
  EXPECT_TRUE(says("has 3 bytes, but the manifest says 4")) << output_;
}

TEST_F(Ls, FlagsASpoolThatIsLeftBehind) {
  run::Manifest m = manifest(0);
  m.spool = folder_ + "/left.spool";
  file("left.spool");
  add(m);

  EXPECT_EQ(ls(), 1);
  EXPECT_TRUE(says("profshim recover " + m.spool)) << output_;
}

// Other users may write manifests into a shared folder.
TEST_F(Ls, EscapesTerminalControlCharacters) {
  run::Manifest m = manifest(0);
  m.state = "\x1b[2Jcleared";
  m.problems = {"one\ntwo"};
  add(m);

  ls();

  EXPECT_TRUE(says("\\x1b[2Jcleared")) << output_;
  EXPECT_TRUE(says("one\\ntwo")) << output_;
  EXPECT_EQ(output_.find('\x1b'), std::string::npos);
}

TEST_F(Ls, NamesAnInvalidManifest) {
  add(manifest(0));
  std::ofstream(fs::path(folder_) / "manifest-rank3.json") << "{ half";

  EXPECT_EQ(ls(), 1);

  EXPECT_TRUE(says(folder_ + "/manifest-rank3.json is not a readable manifest")) << output_;
  EXPECT_TRUE(says("1 rank, 1 file")) << output_;
}

TEST_F(Ls, NeedsAFolderWithManifests) { EXPECT_EQ(ls(), 2); }

TEST_F(Ls, JsonHoldsTheFlags) {
  add(manifest(0));
  file("step11/rank7.11.pt.trace.json");
  bool flagged = false;

  EXPECT_EQ(ls("--json"), 1);

  EXPECT_TRUE(json_leaves(output_, [&](std::string_view path, const ReadEvent::ReadArg& value) {
    flagged = flagged || (path == "flags.0.message" && value.text.find("rank7") != std::string_view::npos);
  })) << output_;
  EXPECT_TRUE(flagged);
}

}  // namespace
}  // namespace profshim
