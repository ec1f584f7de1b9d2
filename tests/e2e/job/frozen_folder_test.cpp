// A frozen file system (fsfreeze, NFS server restart) blocks threads that write to it, even when they get a signal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kFrozen_s = 3;

bool has_a_trace(const std::string& folder) {
  const auto files = files_below(folder);
  return std::any_of(files.begin(), files.end(),
                     [](const std::string& file) { return file.find("pt.trace.json") != std::string::npos; });
}

TEST(FrozenFolder, BlocksNoCallOfTheJobAndLosesNoTrace) {
  const ScratchFolder scratch;
  const std::string image = scratch / "image", disk = scratch / "disk", copy = scratch / "copy";
  const std::string mounted = "mkdir -p '" + disk + "' && truncate -s 64M '" + image + "' && mkfs.ext4 -qF '" + image +
                              "' && exec unshare --mount /bin/sh -c \"mount -o loop '" + image + "' '" + disk + "'";
  Job probe = shell(mounted + "\"");
  probe.preload = false;
  if (const Outcome outcome = run(probe); outcome.ending() != "exit 0")
    GTEST_SKIP() << "a file cannot be mounted here: " << outcome.err;
  const Mpi mpi = installed_mpis().front();
  Job job = shell(mounted + " && LD_PRELOAD='" + built("libprofshim.so") + "' " +
                  built("tests/apps_limits/" + to_string(mpi) + "/slowest_call") + " 8; status=\\$?; cp -r '" + disk +
                  "/traces' '" + copy + "'; exit \\$status\"");
  job.preload = false;  // the shell command sets LD_PRELOAD for the program only
  job.environment = mpirun(mpi, 1, {}).environment;
  job.environment.emplace_back("PROFSHIM_FOLDER", disk + "/traces");
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  job.environment.emplace_back("PROFSHIM_SET",
                               "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=2 "
                               "schedule.active=50 schedule.wait=100 schedule.repeat=0 schedule.on_exit=discard "
                               "limits.disk_free=0");
  bool frozen = false;
  job.while_running = [&](int pid) {
    const std::string seen = "/proc/" + std::to_string(pid) + "/root" + disk;
    for (int i = 0; i < 1000 && !has_a_trace(seen); ++i) usleep(10'000);
    const int file = open(seen.c_str(), O_RDONLY | O_DIRECTORY);
    frozen = file >= 0 && ioctl(file, FIFREEZE, 0) == 0;
    if (frozen) {
      sleep(kFrozen_s);
      ioctl(file, FITHAW, 0);
    }
    close(file);
  };

  const Outcome outcome = run(job);

  EXPECT_TRUE(frozen);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "0 calls took longer than a second\n");
  const auto traces = read_folder(copy);
  EXPECT_GT(traces.size(), 3u) << outcome.err;
  for (const SeenTrace& trace : traces) {
    EXPECT_TRUE(trace.readable) << trace.path << ": " << trace.error;
    EXPECT_EQ(trace.property("complete"), "true") << trace.property("problems");
  }
  std::printf("%zu windows, %s", traces.size(), outcome.err.c_str());
}

}  // namespace
}  // namespace profshim::e2e
