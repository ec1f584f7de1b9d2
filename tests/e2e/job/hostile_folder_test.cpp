// Another user who may write into the trace folder must not change, read or delete the victim's files.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "profshim/base/atomic_file.h"
#include "profshim/base/files.h"
#include "profshim/run/manifest.h"
#include "profshim/run/once_per_job.h"
#include "profshim/run/run_folder.h"
#include "profshim/spool/format.h"
#include "profshim/write/publish.h"
#include "profshim/write/recover.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kVictim = 65533, kAttacker = 65534;
constexpr int kAttempts = 1000;
constexpr const char* kSecret = "the victim's own text";
constexpr std::int64_t kNow = 1'790'000'000'000'000'000;

void become(uid_t user) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0) _exit(99);
}

class Attack {
 public:
  template <class Body>
  explicit Attack(Body body) {
    rounds_ =
        static_cast<std::atomic<int>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_ = fork();
    if (pid_ != 0) return;
    become(kAttacker);
    for (unsigned i = 0;; ++i) {
      body(i);
      rounds_->fetch_add(1);
    }
  }
  ~Attack() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    munmap(rounds_, 4096);
  }
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;
  int rounds() const { return rounds_->load(); }

 private:
  pid_t pid_;
  std::atomic<int>* rounds_;
};

template <class Body>
int as_victim(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    become(kVictim);
    alarm(100);  // ends `body` if it blocks
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class HostileFolder : public testing::TestWithParam<mode_t> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can act as two other users";
    chmod(scratch_.path().c_str(), 0755);
    run_ = scratch_ / "run";
    private_ = scratch_ / "private";
    secret_ = private_ + "/secret";
    fs::create_directory(run_);
    fs::create_directory(private_);
    for (const std::string& folder : {run_, private_}) ASSERT_EQ(chown(folder.c_str(), kVictim, kVictim), 0);
    ASSERT_EQ(chmod(run_.c_str(), GetParam()), 0);
    std::ofstream(secret_) << kSecret;
    ASSERT_EQ(chown(secret_.c_str(), kVictim, kVictim), 0);
    ASSERT_EQ(chmod(secret_.c_str(), 0600), 0);
    ASSERT_EQ(stat(secret_.c_str(), &before_), 0);
  }

  void TearDown() override {
    if (IsSkipped()) return;
    struct stat after {};
    ASSERT_EQ(stat(secret_.c_str(), &after), 0) << "the victim's file is gone";
    EXPECT_EQ(text_of_file(secret_), kSecret);
    EXPECT_EQ(after.st_ino, before_.st_ino);
    EXPECT_EQ(after.st_mode, before_.st_mode);
    EXPECT_EQ(after.st_mtim.tv_nsec, before_.st_mtim.tv_nsec);
    EXPECT_EQ(files_below(private_), std::vector<std::string>{"secret"}) << "a file was made in the victim's folder";
    for (const std::string& file : files_below(run_)) {
      struct stat s {};
      if (lstat((run_ + "/" + file).c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
      EXPECT_EQ(text_of_file(run_ + "/" + file).find(kSecret), std::string::npos) << file;
    }
  }

  std::string in_run(const char* name) const { return run_ + "/" + name; }

  const ScratchFolder scratch_;
  std::string run_, private_, secret_;
  struct stat before_ {};
};

void plant(const std::string& path, const std::string& secret, unsigned kind) {
  unlink(path.c_str());
  rmdir(path.c_str());
  switch (kind % 5) {
    case 0:
      mkfifo(path.c_str(), 0666);
      break;
    case 1:
      (void)!symlink("/dev/zero", path.c_str());
      break;
    case 2:
      (void)!symlink(secret.c_str(), path.c_str());
      break;
    case 3:
      mkdir(path.c_str(), 0777);
      break;
    default:
      if (const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666); fd >= 0) {
        (void)!::write(fd, "elsewhere 1 1 1 boot\n", 21);
        close(fd);
      }
  }
}

TEST_P(HostileFolder, LinksUnderTemporaryNamesAreHarmless) {
  int made = 0;
  {
    const Attack attack([this](unsigned i) {
      const std::string guess = run_ + "/.manifest-rank0.json." + std::to_string(getppid() + 1 + i % 400) + ".tmp";
      (void)!symlink(secret_.c_str(), guess.c_str());
      std::error_code ignored;
      for (fs::directory_iterator it(run_, ignored), end; !ignored && it != end; it.increment(ignored)) {
        const std::string name = it->path().string();
        if (name.find(".tmp") == std::string::npos) continue;
        if (unlink(name.c_str()) == 0) (void)!symlink(secret_.c_str(), name.c_str());
      }
    });
    made = as_victim([this] {
      run::Manifest manifest;
      manifest.rank.rank = 0;
      int written = 0;
      for (int i = 0; i < kAttempts; ++i) written += run::write_manifest(run_, manifest) ? 1 : 0;
      return written > 0 ? 0 : 1;
    });
  }

  EXPECT_EQ(made, 0);
}

TEST_P(HostileFolder, ReplacedIdentityClaimAndManifestAreHarmless) {
  int ended = -1;
  int rounds = 0;
  {
    const Attack attack([this](unsigned i) {
      plant(in_run(".profshim-run"), secret_, i);
      plant(in_run(".claim-rank0"), secret_, i + 1);
      plant(in_run("manifest-rank0.json"), secret_, i + 2);
      plant(in_run("summary-rank0.json"), secret_, i + 3);
    });
    ended = as_victim([this] {
      for (int i = 0; i < kAttempts; ++i) {
        std::string owner;
        run::open_run(Spec{}, run_, {}, {.key = "job", .readable = "job"}, kNow);
        run::claim_rank(run_, 0, owner);
        run::touch_claim(run_, 0);
        run::read_manifests(run_);
        write::add_to_summary(run_, -1, 0, {{"step0/rank0.0.pt.trace.json", "\"window\":0"}});
        run::release_claim(run_, 0);
      }
      return 0;
    });
    rounds = attack.rounds();
  }

  EXPECT_EQ(ended, 0) << "the victim blocked or was killed";
  EXPECT_GE(rounds, kAttempts / 4) << "too few attacks were made";
}

TEST_P(HostileFolder, WindowFoldersReplacedByLinksAreHarmless) {
  int ended = -1;
  {
    const Attack attack([this](unsigned i) {
      const std::string step = in_run("step1");
      if (i % 2 == 0) {
        rmdir(step.c_str());
        rename(step.c_str(), in_run("aside").c_str());
        (void)!symlink(private_.c_str(), step.c_str());
      } else {
        unlink(step.c_str());
        mkdir(step.c_str(), 0777);
      }
    });
    ended = as_victim([this] {
      for (int i = 0; i < kAttempts; ++i) {
        AtomicFile file;
        const std::string name = "step1/rank0." + std::to_string(i) + ".json";
        if (file.open(run_, name)) file.write("{}", 2), file.publish(AtomicFile::Existing::kKeepExisting);
      }
      return 0;
    });
  }

  EXPECT_EQ(ended, 0);
}

void write_spool(const std::string& path, uid_t owner) {
  std::string bytes(1 << 20, 0);
  auto& h = *reinterpret_cast<spool::SpoolHeader*>(bytes.data());
  std::memcpy(h.magic, spool::kMagic, sizeof h.magic);
  h.version = spool::kFormatVersion;
  h.header_bytes = sizeof h;
  h.file_bytes = bytes.size();
  std::ofstream(path) << bytes;
  ASSERT_EQ(chown(path.c_str(), owner, owner), 0);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
}

// `recover` also runs as root, who may read every linked file.
TEST_P(HostileFolder, LinksToSpoolsOfOthersAreHarmless) {
  const std::string spools = scratch_ / "spools", spool = spools + "/profshim-65533-rank0-1-1.spool";
  fs::create_directory(spools);
  ASSERT_EQ(chmod(spools.c_str(), 01777), 0);
  write_spool(spool, kVictim);
  {
    const Attack attack([&](unsigned i) {
      const std::string link = in_run((".rank0-" + std::to_string(i % 7) + ".spool").c_str());
      unlink(link.c_str());
      const std::string targets[] = {spool, secret_, "/dev/zero", "/etc/shadow", private_};
      if (i % 6 == 5) {
        mkfifo(link.c_str(), 0666);
      } else {
        (void)!symlink(targets[i % 6].c_str(), link.c_str());
      }
    });
    const auto recover_all = [this] {
      for (int i = 0; i < kAttempts; ++i) {
        std::vector<write::RecoverNote> notes;
        const write::OpenFolder folder = write::open_run_folder(run_);
        for (const std::string& name : write::spool_entries(folder)) {
          const auto outcome = write::recover_entry(folder, name, {}, notes);
          if (outcome == write::RecoverOutcome::kRecovered || outcome == write::RecoverOutcome::kNothing) return 1;
        }
      }
      return 0;
    };
    EXPECT_EQ(as_victim(recover_all), 0) << "a planted link was followed";
    for (int i = 0; i < 20; ++i) profshim({"recover", run_});
  }

  EXPECT_TRUE(fs::exists(spool)) << "the victim's spool was removed";
  EXPECT_TRUE(fs::exists("/etc/shadow"));
}

TEST_P(HostileFolder, EntriesReplacedDuringRecoverAreHarmless) {
  const std::string spools = scratch_ / "spools", spool = spools + "/profshim-65534-rank0-1-1.spool";
  fs::create_directory(spools);
  ASSERT_EQ(chmod(spools.c_str(), 01777), 0);
  {
    const Attack attack([&](unsigned) {
      const std::string link = in_run(".rank0-1.spool");
      unlink(link.c_str());
      (void)!symlink(spool.c_str(), link.c_str());
      unlink(spool.c_str());
      (void)!symlink(secret_.c_str(), spool.c_str());
      unlink(spool.c_str());
      if (const int fd = open(spool.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666); fd >= 0) {
        (void)!::write(fd, spool::kMagic, sizeof spool::kMagic);
        close(fd);
      }
    });
    const int ended = as_victim([this] {
      for (int i = 0; i < kAttempts; ++i) {
        std::vector<write::RecoverNote> notes;
        const write::OpenFolder folder = write::open_run_folder(run_);
        write::recover_entry(folder, ".rank0-1.spool", {}, notes);
      }
      return 0;
    });
    EXPECT_EQ(ended, 0);
    for (int i = 0; i < 20; ++i) profshim({"recover", run_});
  }
}

/// Exchanges two entries again and again: between check and use, a folder becomes a link.
Attack exchange(const std::string& a, const std::string& b) {
  return Attack([&](unsigned) { syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 2 /* EXCHANGE */); });
}

class HostileParent : public HostileFolder {
 protected:
  void SetUp() override {
    HostileFolder::SetUp();
    if (IsSkipped()) return;
    for (const std::string& path : {above_, above_ + "/more"}) {
      fs::create_directory(path);
      ASSERT_EQ(chown(path.c_str(), kAttacker, kAttacker), 0);
      ASSERT_EQ(chmod(path.c_str(), 0777), 0);
    }
    fs::create_symlink(private_, link_);
    ASSERT_EQ(lchown(link_.c_str(), kAttacker, kAttacker), 0);
  }

  const std::string above_ = scratch_ / "run/above", link_ = scratch_ / "run/link";
};

TEST_P(HostileParent, AFolderAboveReplacedByALinkIsHarmless) {
  int ended = -1, rounds = 0;
  {
    const Attack attack = exchange(above_, link_);
    ended = as_victim([this] {
      const std::string folder = above_ + "/more/run";
      for (int i = 0; i < kAttempts; ++i) {
        std::string owner;
        run::open_run(Spec{}, folder, {}, {.key = "job", .readable = "job"}, kNow);
        run::open_run(Spec{}, above_ + "/{run_name}", {}, {.key = "job", .readable = "j", .rendezvous = "m"}, kNow);
        run::claim_rank(folder, 0, owner);
        run::touch_claim(folder, 0);
        run::write_manifest(folder, {});
        run::claim_job_line(above_, "disk", kNow);
        run::said_first(above_, "steps", kNow, "said");
        write::add_to_summary(above_, -1, 0, {{"step0/rank0.0.pt.trace.json", "\"window\":0"}});
        AtomicFile file;
        if (file.open(above_, "step1/rank0." + std::to_string(i) + ".json"))
          file.publish(AtomicFile::Existing::kKeepExisting);
        run::remove_job_lines(above_, kNow);
        run::release_claim(folder, 0);
      }
      return 0;
    });
    rounds = attack.rounds();
  }

  EXPECT_EQ(ended, 0);
  EXPECT_GE(rounds, kAttempts) << "too few attacks were made";
}

TEST_P(HostileParent, AJobBelowItHarmsNobody) {
  if (const std::string why_not = why_no_job_of(kVictim); !why_not.empty()) GTEST_SKIP() << why_not;
  const Attack attack = exchange(above_, link_);
  for (int i = 0; i < 10; ++i) {
    Job job{.command = {built("tests/apps_ending/" + to_string(installed_mpis().back()) + "/ending"), "return", "1"}};
    job.environment.emplace_back("PROFSHIM_FOLDER", above_);
    job.environment.emplace_back("PROFSHIM_SET", "steps.source=none output.overwrite=true");
    job.before_exec = [] { become(kVictim); };

    EXPECT_EQ(run(job).ending(), "exit 0");
  }
}

TEST_P(HostileParent, ALinkOfAnotherUserIsNamed) {
  Job job{.command = {built("tests/apps_ending/" + to_string(installed_mpis().back()) + "/ending"), "return", "1"}};
  job.environment.emplace_back("PROFSHIM_FOLDER", link_ + "/run");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_NE(outcome.err.find(link_ + " is a link of another user"), std::string::npos) << outcome.err;
}

// Without the sticky bit other users may also remove the victim's files.
INSTANTIATE_TEST_SUITE_P(Modes, HostileFolder, testing::Values(mode_t{01777}, mode_t{0777}),
                         [](const auto& mode) { return std::string(mode.param == 0777 ? "Open" : "Sticky"); });
INSTANTIATE_TEST_SUITE_P(Modes, HostileParent, testing::Values(mode_t{01777}, mode_t{0777}),
                         [](const auto& mode) { return std::string(mode.param == 0777 ? "Open" : "Sticky"); });

}  // namespace
}  // namespace profshim::e2e
