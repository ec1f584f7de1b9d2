#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "profshim/trace/reader.h"
#include "unit/trace/sample_trace.h"

namespace profshim {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int exit_code = -1;
  std::string output;
};

Ran run_command(const std::string& command) {
  Ran ran;
  FILE* const pipe = popen(("timeout 60 " + command + " 2>&1").c_str(), "r");
  char part[4096];
  for (std::size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) ran.output.append(part, n);
  const int status = pclose(pipe);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

Ran verify(const std::string& arguments) { return run_command(e2e::tool_path() + " verify " + arguments); }

class Verify : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "profshim-verify-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  void add(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(folder_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  std::string folder_;
};

TEST_F(Verify, WindowOfTwoRanksConforms) {
  add("step11/rank0.11.pt.trace.json", test::sample_trace({.rank = 0}));
  add("step11/rank1.11.pt.trace.json", test::sample_trace({.rank = 1}));
  add("step11/.rank2.11.pt.trace.json.tmp", "half a file");

  const Ran ran = verify(folder_);

  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_NE(ran.output.find("2 traces, 2 conforming"), std::string::npos) << ran.output;
}

TEST_F(Verify, WindowsInOneFolderAreComparedApart) {
  const auto add_rank = [this](int rank, int window, int first_step) {
    const std::string text = test::sample_trace({.rank = rank, .first_step = first_step, .window = window});
    add("rank" + std::to_string(rank) + ".w" + std::to_string(window) + ".pt.trace.json", text);
  };
  for (int rank : {0, 1}) {
    add_rank(rank, 0, 11);
    add_rank(rank, 1, 21);
  }
  const Ran fine = verify("--quiet " + folder_);
  add_rank(1, 1, 22);
  const Ran differing = verify("--quiet " + folder_);

  EXPECT_EQ(fine.exit_code, 0) << fine.output;
  EXPECT_EQ(differing.exit_code, 1);
  EXPECT_NE(differing.output.find("other steps than in rank0.w1.pt.trace.json"), std::string::npos) << differing.output;
}

// The sample job has four ranks, but only two traces.
TEST_F(Verify, SaysWhichTraceOfASpecsCheckIsMissing) {
  add("run/step11/rank0.11.pt.trace.json", test::sample_trace({.rank = 0}));
  add("run/step11/rank1.11.pt.trace.json", test::sample_trace({.rank = 1}));
  const auto checked = [this](const std::string& check, const std::string& options = "") {
    add("ci.toml", "version = 1\n[check]\n" + check + "\n");
    return verify(folder_ + "/run --quiet --spec " + folder_ + "/ci.toml " + options);
  };

  const Ran fine = checked("min_traces = 2\nranks = \"0-1\"\ncomplete = true");
  EXPECT_EQ(fine.exit_code, 0) << fine.output;
  EXPECT_EQ(fine.output, "");

  const Ran few = checked("min_traces = 3");
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_EQ(few.output, "check.min_traces: broken: 2 traces, at least 3 required\n");

  const Ran absent = checked("ranks = \"all\"");
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_EQ(absent.output, "check.ranks: broken: no trace of ranks 2-3\n");

  const Ran unknown = checked("ranks = \"local:0\"");
  EXPECT_EQ(unknown.exit_code, 0);
  EXPECT_EQ(unknown.output,
            "check.ranks: cannot tell: \"local:0\" selects none of 4 ranks by number: use numbers such as \"0-3\"\n");

  const Ran json = checked("ranks = \"3\"", "--json");
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_NE(json.output.find(R"({"rule": "check.ranks", "holds": false, "message": "no trace of rank 3"}])"),
            std::string::npos)
      << json.output;

  const Ran bad = checked("min_trace = 3");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.output.find("ci.toml:3"), std::string::npos) << bad.output;
}

TEST_F(Verify, IncompleteTraceIsReported) {
  add("run/step11/rank0.11.pt.trace.json", test::sample_trace({.rank = 0}));
  add("run/step11/rank1.11.pt.trace.json", test::sample_trace({.rank = 1, .complete = false}));
  add("ci.toml", "version = 1\n[check]\ncomplete = true\n");
  const std::string merged = folder_ + "/all.11.pt.trace.json";
  ASSERT_EQ(run_command(e2e::tool_path() + " merge " + folder_ + "/run -o " + merged).exit_code, 0);

  for (const std::string& what : {folder_ + "/run", merged}) {
    const Ran ran = verify(what + " --spec " + folder_ + "/ci.toml");

    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_NE(ran.output.find("check.complete: broken: incomplete traces: 1, lost events: 0"), std::string::npos)
        << ran.output;
  }
}

TEST_F(Verify, LossesAreSaidWithoutASpec) {
  add("run/step11/rank0.11.pt.trace.json", test::sample_trace({.rank = 0, .complete = false}));
  add("run/manifest-rank0.json",
      R"({"rank": 0, "world_size": 1, "state": "finished", "windows": [], "problems": [],
          "window_counts": {"asked": 12000, "written": 9613, "lost_writer_behind": 2387}})");

  for (const std::string& what : {folder_ + "/run", folder_ + "/run/step11/rank0.11.pt.trace.json"}) {
    const Ran ran = verify(what);

    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_NE(ran.output.find("incomplete: "), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("1 trace, 1 conforming, 1 incomplete"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("rank 0: 9613 of 12000 windows written; 2387 lost because the writer was behind"),
              std::string::npos)
        << ran.output;
  }
}

TEST_F(Verify, LostWindowsBreakCheckComplete) {
  add("run/step11/rank0.11.pt.trace.json", test::sample_trace({.rank = 0}));
  add("run/manifest-rank0.json",
      R"({"rank": 0, "windows": [], "window_counts": {"asked": 2, "written": 1, "lost_disk_full": 1}})");
  add("ci.toml", "version = 1\n[check]\ncomplete = true\n");

  const Ran ran = verify(folder_ + "/run --spec " + folder_ + "/ci.toml");

  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_NE(ran.output.find("check.complete: broken: incomplete traces: 0, lost events: 0, lost windows: 1"),
            std::string::npos)
      << ran.output;
}

TEST_F(Verify, WindowsWithDifferentStepsAreNotMatched) {
  add("rank0.11.pt.trace.json", test::sample_trace({.first_step = 11}));
  add("rank0.14.pt.trace.json", test::sample_trace({.first_step = 14}));

  EXPECT_EQ(verify(folder_).exit_code, 0);
}

TEST_F(Verify, DuplicateRankIsAFinding) {
  add("step11/rank0.11.pt.trace.json", test::sample_trace({.rank = 0}));
  add("step11/rank1.11.pt.trace.json", test::sample_trace({.rank = 0}));

  const Ran ran = verify("--quiet " + folder_);

  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_NE(ran.output.find("rank 0 is in another file"), std::string::npos) << ran.output;
}

TEST_F(Verify, TruncatedFileIsUnreadable) {
  const std::string text = test::sample_trace();
  add("rank0.11.pt.trace.json", text.substr(0, text.size() / 2));

  const Ran ran = verify(folder_);

  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  EXPECT_NE(ran.output.find("cut off: byte "), std::string::npos) << ran.output;
}

TEST_F(Verify, NothingToVerifyIsAnError) {
  EXPECT_EQ(verify(folder_).exit_code, 2);
  EXPECT_EQ(verify(folder_ + "/none").exit_code, 2);
  EXPECT_EQ(verify("").exit_code, 2);
}

TEST_F(Verify, PrintsValidJson) {
  add("rank0.11.pt.trace.json", test::sample_trace());
  int leaves = 0;

  const Ran ran = verify("--json " + folder_);

  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(json_leaves(ran.output, [&](std::string_view path, const ReadEvent::ReadArg& value) {
    ++leaves;
    if (path == "0.conforms") {
      EXPECT_EQ(value.integer, 1);
    }
  })) << ran.output;
  EXPECT_GT(leaves, 10);
}

TEST_F(Verify, FileNamedTwiceCountsOnce) {
  add("step11/rank0.11.pt.trace.json", test::sample_trace());

  const Ran ran = verify(folder_ + " " + folder_ + "/step11/../step11/rank0.11.pt.trace.json");

  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_NE(ran.output.find("1 trace, 1 conforming"), std::string::npos) << ran.output;
}

// Opening a pipe without a writer would block forever.
TEST_F(Verify, FileThatOnlyHasTheNameOfATraceIsNoTrace) {
  add("rank0.11.pt.trace.json", test::sample_trace());
  fs::create_directory(fs::path(folder_) / "rank1.11.pt.trace.json");
  ASSERT_EQ(mkfifo((folder_ + "/rank2.11.pt.trace.json").c_str(), 0600), 0);

  const Ran ran = verify(folder_);

  EXPECT_EQ(ran.exit_code, 0) << ran.output;
}

TEST_F(Verify, DanglingLinkIsReported) {
  add("rank0.11.pt.trace.json", test::sample_trace());
  fs::create_symlink("nowhere", fs::path(folder_) / "rank1.11.pt.trace.json");

  EXPECT_EQ(verify(folder_).exit_code, 2);
}

TEST_F(Verify, UnreadableFolderIsReported) {
  const std::string as_other_user = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
  add("rank0.11.pt.trace.json", test::sample_trace());
  fs::create_directory(fs::path(folder_) / "locked");
  chmod((folder_ + "/locked").c_str(), 0);
  chmod(folder_.c_str(), 0755);
  const bool is_root = geteuid() == 0;
  if (is_root && std::system((as_other_user + "test -x " + e2e::tool_path()).c_str()) != 0) {
    GTEST_SKIP() << "root reads everything, and another user cannot reach the tool here";
  }
  const std::string tool = (is_root ? as_other_user : "") + e2e::tool_path() + " ";

  for (const std::string& command :
       {"verify " + folder_, "verify " + folder_ + "/locked", "ls " + folder_ + "/locked"}) {
    const Ran ran = run_command(tool + command);
    EXPECT_EQ(ran.exit_code, 2) << command << ran.output;
    EXPECT_NE(ran.output.find("locked: Permission denied"), std::string::npos) << command << ran.output;
  }
}

}  // namespace
}  // namespace profshim
