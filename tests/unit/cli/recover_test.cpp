#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "profshim/json.h"
#include "profshim/run/manifest.h"
#include "profshim/run/run_folder.h"
#include "profshim/write/publish.h"
#include "unit/cli/tool.h"
#include "unit/not_under_tsan.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

namespace fs = std::filesystem;

std::string this_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

int pid_of_nobody() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return pid;
}

class RecoverTest : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(64);
    recorder::tend_pool([] { return Ticks{1}; }, 32);
    run_ = folder_.path() + "/run";
    spool_ = folder_.path() + "/test.spool";
    fs::create_directory(run_);
    spool::SpoolHeader& h = recorder::header();
    h.rank = 0;
    h.world_size = 1;
    h.pid = pid_of_nobody();
    h.pid_start_time = 4711;
    h.base_time_ns = base_time_for(realtime_ns());
    h.host = recorder::intern(this_host());
    h.folder = recorder::intern(run_);
    link_ = run_ + "/.rank0-" + std::to_string(h.pid) + ".spool";
    fs::create_symlink(spool_, link_);
    set_spec("");
  }

  static void set_spec(const std::string& text) {
    recorder::header().spec = recorder::intern("version = 1\n[output]\ngzip = false\n" + text, spool::kMaxText);
  }
  static void alive_at(std::int64_t realtime_ns) { recorder::add_anchor({1, 1, realtime_ns}); }
  static spool::Window& window_of(std::uint64_t number) {
    return const_cast<spool::Window&>(
        reinterpret_cast<const spool::Window*>(recorder::data() + recorder::header().windows_at)[number]);
  }
  static void window(Ticks begin, std::int64_t step = -1, std::uint32_t epoch = 0) {
    std::uint64_t first = spool::kNoMark, end = 0;
    if (step >= 0) first = recorder::add_mark({begin, step, step});
    spool::Window* const window = recorder::open_window(begin, first);
    window->epoch = epoch;
    commit_at(begin + 10, HookId::kNvtxRange, 10);
    if (step >= 0) end = recorder::add_mark({begin + 100, step + 1, step + 1});
    recorder::close_window(*window, begin + 100, end, spool::WindowEnd::kSchedule, 0);
  }

  test::ToolRun recover(const std::string& arguments) {
    return test::run_shell("profshim recover " + arguments, folder_.path());
  }
  std::vector<std::string> traces() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(run_)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".pt.trace.json") && entry.is_regular_file()) {
        found.push_back(fs::relative(entry.path(), run_).string());
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  bool nothing_is_left() const { return !fs::exists(spool_) && !fs::is_symlink(link_); }

  std::string run_, spool_, link_;
};

using Names = std::vector<std::string>;

TEST_F(RecoverTest, RecoversByTheRunFolder) {
  alive_at(realtime_ns());
  window(100);

  const test::ToolRun run = recover("run");

  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(traces(), Names{"step0/rank0.0.pt.trace.json"});
  EXPECT_TRUE(nothing_is_left());
}

// The run folder holds a link to the spool. recover must remove both.
TEST_F(RecoverTest, ByTheLink) {
  alive_at(realtime_ns());
  window(100);

  const test::ToolRun run = recover("run/.rank0-*.spool");

  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(traces(), Names{"step0/rank0.0.pt.trace.json"});
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(RecoverTest, NamesTheEpochOfEachWindow) {
  alive_at(realtime_ns());
  set_spec("filename = \"e{epoch}.{step}.pt.trace.json\"\n");
  window(100, 4, 2);
  window(300, 8, 3);

  EXPECT_EQ(recover("run").status, 0);

  EXPECT_EQ(traces(), (Names{"e2-rank0.4.pt.trace.json", "e3-rank0.8.pt.trace.json"}));
}

// The process was killed after publishing the trace and before noting the publication in the spool.
TEST_F(RecoverTest, AnExistingTraceIsNotWrittenAgain) {
  alive_at(realtime_ns());
  window(100);
  std::string why_not;
  const auto view = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
  ASSERT_NE(view, nullptr) << why_not;
  write::PublishOptions options;
  options.folder = run_;
  options.on_file = [](std::uint64_t inode) { window_of(0).file.store(inode); };
  Spec spec;
  spec.output.gzip = Gzip::kNo;
  ASSERT_EQ(write::publish_window(*view, 0, spec, options).status, "written");

  const test::ToolRun run = recover("run");

  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(traces(), Names{"step0/rank0.0.pt.trace.json"});
  EXPECT_TRUE(nothing_is_left());
}

// The job that recovers may be killed, too.
TEST_F(RecoverTest, ARecoveryThatWasKilledIsContinued) {
  alive_at(realtime_ns());
  window(100, 1);
  window(300, 3);
  fs::create_directory(run_ + "/manifest-rank0.json");  // in its way: as if the recovery was killed before it
  ASSERT_EQ(recover("run").status, 1);
  ASSERT_EQ(traces().size(), 2u);
  fs::remove(run_ + "/manifest-rank0.json");

  EXPECT_EQ(recover("run").status, 0);

  EXPECT_EQ(traces(), (Names{"step1/rank0.1.pt.trace.json", "step3/rank0.3.pt.trace.json"}));
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(RecoverTest, ByTheSpoolLeavesNoLink) {
  alive_at(realtime_ns());
  window(100);

  EXPECT_EQ(recover("test.spool").status, 0);

  EXPECT_TRUE(nothing_is_left());
  const test::ToolRun again = recover("run");
  EXPECT_EQ(again.status, 0) << again.out;
}

TEST_F(RecoverTest, AMovedFolderGetsTheTraces) {
  alive_at(realtime_ns());
  window(100);
  fs::rename(run_, run_ + "-kept");
  run_ += "-kept";

  EXPECT_EQ(recover("run-kept/.rank0-*.spool").status, 0);

  EXPECT_EQ(traces(), Names{"step0/rank0.0.pt.trace.json"});
}

TEST_F(RecoverTest, RefusesASpoolWithoutAFolder) {
  alive_at(realtime_ns());
  window(100);
  recorder::header().folder = 0;

  const test::ToolRun run = recover("test.spool");

  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("run: profshim recover RUN_FOLDER"), std::string::npos) << run.out;
  EXPECT_TRUE(fs::exists(spool_));
}

// `mpirun profshim run` recovers on all ranks at the same time.
TEST_F(RecoverTest, ConcurrentRecoveriesWriteEachTraceOnce) {
  alive_at(realtime_ns());
  for (Ticks t = 100; t < 900; t += 100) window(t, static_cast<std::int64_t>(t / 100));

  test::run_shell("for i in 1 2 3 4; do profshim recover run & done; wait", folder_.path());

  EXPECT_EQ(traces().size(), 8u);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(RecoverTest, AFailedWindowIsRetried) {
  alive_at(realtime_ns());
  window(100, 1);
  window(300, 3);
  std::ofstream(run_ + "/step3") << "in the way of the folder";

  EXPECT_EQ(recover("run").status, 1);
  fs::remove(run_ + "/step3");
  const test::ToolRun again = recover("run");

  EXPECT_EQ(again.status, 0) << again.out;
  EXPECT_EQ(traces(), (Names{"step1/rank0.1.pt.trace.json", "step3/rank0.3.pt.trace.json"}));
  const auto manifests = run::read_manifests(run_);
  ASSERT_EQ(manifests.size(), 1u);
  EXPECT_EQ(manifests[0].windows.size(), 2u);
  EXPECT_EQ(manifests[0].state, "recovered");
}

TEST_F(RecoverTest, ARecentProcessOnAnotherHostIsNotRecovered) {
  recorder::header().host = recorder::intern("elsewhere");
  alive_at(realtime_ns() - 2'000'000'000);
  window(100);

  const test::ToolRun run = recover("run");

  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("was still running on elsewhere a moment ago"), std::string::npos) << run.out;
  EXPECT_TRUE(traces().empty());
  EXPECT_TRUE(fs::exists(spool_));
}

TEST_F(RecoverTest, ASilentProcessOnAnotherHostIsRecovered) {
  recorder::header().host = recorder::intern("elsewhere");
  alive_at(realtime_ns() - 3'600'000'000'000);
  window(100);

  EXPECT_EQ(recover("run").status, 0);

  EXPECT_EQ(traces().size(), 1u);
}

// A requeued job uses the folder of the killed job.
TEST_F(RecoverTest, ALaterProcessKeepsItsClaimAndItsManifest) {
  alive_at(realtime_ns());
  window(100);
  std::string owner;
  ASSERT_TRUE(run::claim_rank(run_, 0, owner)) << owner;
  run::Manifest later;
  later.rank.rank = 0;
  later.rank.host = this_host();
  later.pid = getpid();
  later.state = "active";
  later.spool = "/dev/shm/of-the-later";
  ASSERT_TRUE(run::write_manifest(run_, later));

  EXPECT_EQ(recover("run").status, 0);

  EXPECT_TRUE(fs::exists(run_ + "/.claim-rank0"));
  run::Manifest found;
  ASSERT_TRUE(run::read_manifest(run_ + "/manifest-rank0.json", found));
  EXPECT_EQ(found.state, "active");
  EXPECT_EQ(found.spool, "/dev/shm/of-the-later");
  EXPECT_EQ(traces().size(), 1u);
}

TEST_F(RecoverTest, RemovesTheClaimOfTheDeadProcess) {
  alive_at(realtime_ns());
  window(100);
  const spool::SpoolHeader& h = recorder::header();
  std::ofstream(run_ + "/.claim-rank0") << this_host() << ' ' << h.pid << ' ' << h.pid_start_time << '\n';

  EXPECT_EQ(recover("run").status, 0);

  EXPECT_FALSE(fs::exists(run_ + "/.claim-rank0"));
}

// TOML must be UTF-8, but a folder's name need not be.
TEST_F(RecoverTest, AFolderWithInvalidUtf8KeepsTheSpec) {
  alive_at(realtime_ns());
  window(100);
  set_spec("folder = \"/tmp/\xff\"\nfilename = \"x-{rank}.pt.trace.json\"\n");

  EXPECT_EQ(recover("run").status, 0);

  EXPECT_EQ(traces(), Names{"x-0.pt.trace.json"});
}

TEST_F(RecoverTest, ReportsALostSpec) {
  alive_at(realtime_ns());
  window(100);
  recorder::header().spec = recorder::intern("this is no spec", spool::kMaxText);

  const test::ToolRun run = recover("run");

  EXPECT_NE(run.out.find("rank 0: cannot read its spec"), std::string::npos) << run.out;
  EXPECT_EQ(traces().size(), 1u);
}

TEST_F(RecoverTest, PrintsJson) {
  alive_at(realtime_ns());
  window(100);

  const test::ToolRun run = recover("--json run");

  EXPECT_TRUE(valid_json(run.out)) << run.out;
  EXPECT_NE(run.out.find("\"file\": \"" + run_ + "/step0/rank0.0.pt.trace.json\""), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\"window\": 0"), std::string::npos) << run.out;
}

constexpr uid_t kUser = 65534;

TEST_F(RecoverTest, RootActsAsTheOwnerOfTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  alive_at(realtime_ns());
  window(100);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(run_.c_str(), 0750), 0);
  for (const std::string& path : {run_, spool_, link_}) ASSERT_EQ(lchown(path.c_str(), kUser, kUser), 0);

  const test::ToolRun run = recover("run");

  EXPECT_EQ(run.status, 0) << run.out << run.err;
  ASSERT_EQ(traces().size(), 1u);
  for (const std::string& file : {traces()[0], std::string("step0"), std::string("manifest-rank0.json")}) {
    struct stat s {};
    ASSERT_EQ(stat((run_ + "/" + file).c_str(), &s), 0) << file;
    EXPECT_EQ(s.st_uid, kUser) << file;
    EXPECT_EQ(s.st_mode & 0027, 0u) << file << " is open to more than its folder";
  }
}

TEST_F(RecoverTest, ALinkOfAnotherUserIsNotTouched) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  alive_at(realtime_ns());
  window(100);
  ASSERT_EQ(lchown(link_.c_str(), kUser, kUser), 0);

  const test::ToolRun run = recover("run");

  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("belongs to another user"), std::string::npos) << run.out;
  EXPECT_TRUE(fs::exists(spool_));
  EXPECT_TRUE(traces().empty());
}

TEST_F(RecoverTest, ASpoolOfAnotherUserIsNotTouched) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  alive_at(realtime_ns());
  window(100);
  ASSERT_EQ(chown(spool_.c_str(), kUser, kUser), 0);

  const test::ToolRun run = recover("run test.spool");

  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(fs::exists(spool_));
  EXPECT_TRUE(traces().empty());
}

TEST_F(RecoverTest, APipeInPlaceOfASpoolDoesNotBlock) {
  ASSERT_EQ(mkfifo((run_ + "/.rank1-1.spool").c_str(), 0666), 0);
  fs::create_symlink("/dev/zero", run_ + "/.rank2-1.spool");

  const test::ToolRun run = test::run_shell("timeout 20 profshim recover run", folder_.path());

  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_NE(run.out.find("is not a spool"), std::string::npos) << run.out;
}

TEST_F(RecoverTest, RunUnderALauncherDoesNotReportRunningRanks) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the library of that build wants its runtime first in every process";
#endif
  NOT_UNDER_TSAN("the library of that build crashes in programs without its runtime");
  alive_at(realtime_ns());
  window(100);
  recorder::header().pid = getpid();
  recorder::header().pid_start_time = process_start_time(getpid());
  const std::string command = "profshim run --folder '" + run_ + "' -- true";

  const test::ToolRun alone = test::run_shell(command, folder_.path());
  const test::ToolRun among = test::run_shell("RANK=1 WORLD_SIZE=2 " + command, folder_.path());

  EXPECT_NE(alone.err.find("is still running"), std::string::npos) << alone.err;
  EXPECT_EQ(among.err, "");
}

}  // namespace
}  // namespace profshim
