#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "profshim/recorder_control.h"
#include "profshim/run/manifest.h"
#include "profshim/session.h"

namespace {

using namespace profshim;

constexpr int kEvents = 1'000'000;

void commit_events() {
  spool::Thread& thread = *recorder::this_thread();
  for (int i = 0; i < kEvents; ++i) {
    Event* const call = recorder::open_call(thread);
    *call = Event{};
    call->hook = hook_by_name("MPI_Allreduce");
    call->mpi = {8, 1, 1, static_cast<std::uint32_t>(i + 1), kNone32, kNone32, 0, 0, 0};
    recorder::begin(*call);
    recorder::end(thread, *call);
    if (i % 20'000 == 0) usleep(2000);  // as if the job also computed
  }
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double timed_boundary_us() {
  const std::int64_t before = monotonic_ns();
  session::step_boundary(ticks(), std::nullopt, 0);
  return static_cast<double>(monotonic_ns() - before) / 1000;
}

}  // namespace

int main() {
  char folder[] = "/tmp/profshim-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  setenv("PROFSHIM_FOLDER", (std::string(folder) + "/run").c_str(), 1);
  setenv("PROFSHIM_LOG", "error", 1);
  setenv(
      "PROFSHIM_SET",
      "steps.source=nvtx steps.pattern=x schedule.skip_first=0 schedule.warmup=1 schedule.active=1 output.gzip=false "
      "limits.disk_free=0",
      1);
  Rank rank;
  rank.rank = 0;
  rank.world_size = 1;
  session::activate(rank);
  if (session::spec() == nullptr) return 1;
  session::step_boundary(ticks(), std::nullopt, 0);
  usleep(300'000);
  session::step_boundary(ticks(), std::nullopt, 0);
  commit_events();
  const double stall_us = timed_boundary_us();
  const std::int64_t closed = monotonic_ns();
  const double cpu_before = cpu_seconds();
  session::finish(session::End::kNormal);
  const double seconds = static_cast<double>(monotonic_ns() - closed) / 1e9;
  const double cpu = cpu_seconds() - cpu_before;

  const auto manifests = run::read_manifests(std::string(folder) + "/run");
  if (manifests.empty() || manifests[0].windows.empty()) return 1;
  const run::ManifestWindow& window = manifests[0].windows[0];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("window with %llu events (%llu dropped): the job's thread was held %.1f us when it closed\n",
              static_cast<unsigned long long>(window.events), static_cast<unsigned long long>(window.dropped),
              stall_us);
  std::printf("spool: %zu bytes per event; trace: %.0f bytes per event\n", sizeof(Event),
              static_cast<double>(window.bytes) / static_cast<double>(std::max<std::uint64_t>(window.events, 1)));
  std::printf(
      "gathered, ordered, named, written, fsync: %.2f M events per second of CPU, %.2f per second; peak memory %ld "
      "MiB\n",
      static_cast<double>(window.events) / cpu / 1e6, static_cast<double>(window.events) / seconds / 1e6,
      usage.ru_maxrss / 1024);
  std::filesystem::remove_all(folder);
  return window.status == "written" ? 0 : 1;
}
