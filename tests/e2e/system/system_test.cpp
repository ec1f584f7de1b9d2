#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/killed_jobs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr const char* kAll = "[system]\ncpu = true\nmemory = true\ndisk = true\nnet = true\ninterval_seconds = 0.02\n";

struct Sample {
  double at_s, value;
};

std::vector<Sample> samples(const SeenTrace& trace, const std::string& name, const std::string& unit) {
  std::vector<Sample> found;
  for (const SeenEvent& event : trace.events) {
    if (event.phase != "C" || event.name != name) continue;
    const auto value = event.args.find(unit);
    if (value == event.args.end() || event.args.size() != 1) {
      ADD_FAILURE() << name << " has other arguments than " << unit;
      continue;
    }
    found.push_back({static_cast<double>(event.ts_ns) * 1e-9, std::stod(value->second)});
  }
  return found;
}

double largest(const std::vector<Sample>& samples) {
  double most = -1;
  for (const Sample& sample : samples) most = std::max(most, sample.value);
  return most;
}

// Each rate holds since the sample before; `first_s` is the time of the first sample, which has no rates.
double sum_over_time(const std::vector<Sample>& rates, double first_s) {
  double sum = 0, before_s = first_s;
  for (const Sample& rate : rates) {
    sum += rate.value * (rate.at_s - before_s);
    before_s = rate.at_s;
  }
  return sum;
}

double printed(const Outcome& outcome, const std::string& key) {
  const std::size_t at = outcome.out.find(key + " ");
  return at == std::string::npos ? -1 : std::stod(outcome.out.substr(at + key.size()));
}

Job busy_job(const ScratchFolder& scratch, Mpi mpi, const std::vector<std::string>& parts) {
  // Without a launcher, which the program's network namespace would separate from it.
  Job job{.command = {built("tests/apps_system/" + to_string(mpi) + "/busy_process")}};
  job.command.insert(job.command.end(), parts.begin(), parts.end());
  job.folder = scratch.path();
  job.environment.push_back(kNoDaemon);
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces") + kAll));
  return job;
}

struct BusyRun {
  Outcome outcome;
  SeenTrace trace;
  double first_s = 0;
  std::vector<Sample> of(const char* name, const char* unit) const { return samples(trace, name, unit); }
  double sum(const char* name, const char* unit) const { return sum_over_time(of(name, unit), first_s); }
};

BusyRun run_busy(Mpi mpi, const std::vector<std::string>& parts) {
  const ScratchFolder scratch;
  BusyRun result;
  result.outcome = run(busy_job(scratch, mpi, parts));
  const std::vector<SeenTrace> traces = read_folder(scratch / "traces");
  if (traces.size() == 1) result.trace = traces[0];
  const auto first = result.of("process memory", "bytes");
  if (!first.empty()) result.first_s = first.front().at_s;
  EXPECT_EQ(result.outcome.ending(), "exit 0") << result.outcome.err;
  EXPECT_FALSE(first.empty()) << result.outcome.err;
  return result;
}

constexpr double kMiB = 1 << 20;

TEST(System, CpuAndMemoryAreThoseThatTheKernelCounts) {
  const BusyRun busy = run_busy(installed_mpis().front(), {"cpu", "0.6", "memory", "200000000"});

  const double used = busy.sum("process CPU", "%") / 100, rss = printed(busy.outcome, "rss_kb") * 1024;
  EXPECT_GT(used, 0.3);
  EXPECT_LT(used, printed(busy.outcome, "cpu_seconds") + 0.2);  // MPI_Finalize comes later
  EXPECT_LT(busy.sum("process CPU in the kernel", "%") / 100, used);
  EXPECT_GT(largest(busy.of("machine CPU", "%")), 50.0 / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_LE(largest(busy.of("machine CPU", "%")), 100);
  EXPECT_GE(largest(busy.of("process threads", "number")), 3);  // the program's and two of the library
  EXPECT_NEAR(largest(busy.of("process memory", "bytes")), rss, 8 * kMiB);
  EXPECT_NEAR(busy.of("process memory peak", "bytes").back().value, rss, 8 * kMiB);
  const auto available = busy.of("machine memory available", "bytes");
  EXPECT_GT(largest(available), 0);
  EXPECT_LT(largest(available),
            static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

/// Times of lines "key NANOSECONDS", in seconds.
std::vector<double> times_of(const Outcome& outcome, const std::string& key) {
  std::vector<double> times;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + " ")) times.push_back(std::stod(line.substr(key.size())) * 1e-9);
  }
  return times;
}

constexpr int kParts = 10;

/// Compares the samples with the parts that the program used meanwhile. On a busy machine the first sample comes late
/// and the last one early, and some parts pass while the file is read.
void expect_parts(const BusyRun& busy, const char* counter, double part_bytes) {
  const double base_s = std::stod(busy.trace.metadata.at("baseTimeNanoseconds")) * 1e-9;
  const auto rates = busy.of(counter, "bytes/s");
  ASSERT_FALSE(rates.empty()) << busy.outcome.err;
  const double first_s = base_s + busy.first_s, last_s = base_s + rates.back().at_s;
  const std::vector<double> began_s = times_of(busy.outcome, "part_began_ns"),
                            ended_s = times_of(busy.outcome, "part_ended_ns");
  ASSERT_EQ(began_s.size(), kParts);
  ASSERT_EQ(ended_s.size(), kParts);
  const double slack = 3 * part_bytes;
  double least = 0, most = 0;
  for (std::size_t i = 0; i < ended_s.size(); ++i) {
    least += began_s[i] > first_s && ended_s[i] < last_s ? part_bytes : 0;
    most += ended_s[i] > first_s && began_s[i] < last_s ? part_bytes : 0;
  }
  EXPECT_GE(busy.sum(counter, "bytes/s"), least - slack);
  EXPECT_LE(busy.sum(counter, "bytes/s"), most + slack);
}

TEST(System, DiskBytesAreThoseThatTheKernelCounts) {
  const BusyRun busy = run_busy(installed_mpis().front(), {"sleep", "0.1", "disk", "50000000"});

  const double written = printed(busy.outcome, "written_bytes");
  // A file system in memory counts none: then the counter shows none.
  expect_parts(busy, "process disk writes", written / kParts);
  EXPECT_LT(busy.sum("process disk writes", "bytes/s"), written + kMiB);
}

TEST(System, NetworkBytesAreThoseOfTheInterfacesOfTheProcess) {
  const auto mpis = installed_mpis();
  if (std::find(mpis.begin(), mpis.end(), Mpi::kMpich) == mpis.end())
    GTEST_SKIP() << "Open MPI does not start alone in a network namespace";
  const BusyRun busy = run_busy(Mpi::kMpich, {"sleep", "0.1", "net", "4000000"});
  if (printed(busy.outcome, "has_network") != 1) GTEST_SKIP() << "no network namespace or no /dev/net/tun here";

  constexpr double kPart = 4e5;
  expect_parts(busy, "machine network received", kPart);
  const double received = busy.sum("machine network received", "bytes/s"),
               sent = busy.sum("machine network sent", "bytes/s");
  EXPECT_LE(received, 1.01 * kParts * kPart);
  EXPECT_NEAR(sent, received / 2, 0.05 * received);
}

// The last rollout takes 200 ms and is never closed. No other window is open then.
TEST(System, WindowsOfPhasesHaveSamples) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(phases_job(scratch, 1, {"1", "1", "leak"},
                                         "[steps]\nsource = \"nvtx\"\npattern = \"rl_step*\"\n[schedule]\nsteps = [0]\n"
                                         "[[phase]]\nname = \"rollout\"\nnvtx = \"rollout*\"\nmode = \"window\"\n"
                                         "schedule = { skip_first = 1, warmup = 0, active = 1, repeat = 1 }\n" +
                                             std::string(kAll)));

  const auto traces = read_folder(scratch / "traces/rollout-1");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_GE(samples(traces[0], "process memory", "bytes").size(), 2u);
  EXPECT_GE(samples(traces[0], "process CPU", "%").size(), 1u);
}

TEST(System, ToolsKeepTheCounters) {
  const ScratchFolder scratch;
  const Mpi mpi = installed_mpis().front();
  Job job = mpirun(mpi, 2, {built("tests/apps_system/" + to_string(mpi) + "/busy_process"), "cpu", "0.2"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces") + kAll));
  ASSERT_EQ(run(job).ending(), "exit 0");
  const std::vector<std::string> traces = traces_below(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u);
  const std::string merged = scratch / "merged.json", native = scratch / "native.pftrace";

  EXPECT_EQ(profshim({"merge", traces[0], traces[1], "-o", merged}).ending(), "exit 0");
  EXPECT_EQ(profshim({"convert", traces[0], "-o", native}).ending(), "exit 0");

  const auto count = [](const std::string& path) {
    const SeenTrace seen = read_seen(path);
    return std::count_if(seen.events.begin(), seen.events.end(), [](const SeenEvent& e) { return e.phase == "C"; });
  };
  EXPECT_GT(count(traces[0]), 20);
  EXPECT_EQ(count(merged), count(traces[0]) + count(traces[1]));
  EXPECT_EQ(profshim({"verify", traces[0], merged}).ending(), "exit 0");
  EXPECT_EQ(profshim({"compare", traces[0], traces[0]}).ending(), "exit 0");
  EXPECT_EQ(profshim({"summary", traces[0]}).out.find("process CPU"), std::string::npos);
  EXPECT_NE(text_of_file(native).find("process memory bytes"), std::string::npos);
}

/// How often a thread of a process has slept; -1: there is none of this name.
long sleeps_of(int pid, const std::string& name) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/";
  for (const auto& thread : std::filesystem::directory_iterator(folder)) {
    const std::string status = text_of_file(thread.path() / "status"), key = "\nvoluntary_ctxt_switches:";
    const std::size_t at = status.find(key);
    if (status.starts_with("Name:\t" + name + "\n") && at != std::string::npos)
      return std::stol(status.substr(at + key.size()));
  }
  return -1;
}

TEST(System, AKilledProcessLeavesItsSamples) {
  const ScratchFolder scratch;
  Job job = busy_job(scratch, installed_mpis().front(), {"sleep", "600"});
  job.while_running = [&](int pid) {
    EXPECT_TRUE(comes_true([&] { return records(scratch / "traces"); }));
    // It sleeps 2 ms between looks, and takes a sample every 20 ms.
    const long before = sleeps_of(pid, "profshim-coll");
    EXPECT_TRUE(comes_true([&] { return sleeps_of(pid, "profshim-coll") > before + 100; }));
    kill(pid, SIGKILL);
  };
  ASSERT_EQ(run(job).ending(), "signal 9");

  ASSERT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_GE(samples(traces[0], "process memory", "bytes").size(), 2u);
  EXPECT_EQ(profshim({"verify", traces[0].path}).ending(), "exit 0");
}

TEST(System, TheTraceSaysOnceWhatCannotBeRead) {
  const ScratchFolder scratch;
  Job job = busy_job(scratch, installed_mpis().front(), {});
  job.command = {built("tests/apps_ending/" + to_string(installed_mpis().front()) + "/refused"), std::to_string(EACCES),
                 std::to_string(SYS_pread64), "500000"};

  const Outcome outcome = run(job);

  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  const std::string problems = traces[0].property("problems");
  const std::string line =
      "/proc/self/io cannot be read (Permission denied): disk reads and writes of the process "
      "cannot be shown";
  const std::size_t first = problems.find(line);
  ASSERT_NE(first, std::string::npos) << problems;
  EXPECT_EQ(problems.find(line, first + 1), std::string::npos) << problems;
  EXPECT_TRUE(samples(traces[0], "process disk reads", "bytes/s").empty());
}

}  // namespace
}  // namespace profshim::e2e
