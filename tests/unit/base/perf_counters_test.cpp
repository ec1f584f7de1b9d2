#include "profshim/perf_counters.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace profshim {
namespace {

constexpr PerfCounter kOfKernel[] = {PerfCounter::kPageFaults, PerfCounter::kContextSwitches, PerfCounter::kTaskClock};

std::uint64_t value(const PerfReading& reading, PerfCounter counter) {
  EXPECT_TRUE(reading.knows(static_cast<std::size_t>(counter)));
  return reading.values[static_cast<std::size_t>(counter)];
}

void touch(std::size_t pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, pages * page);
}

std::set<int> counter_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().find("perf_event") != std::string::npos)
      found.insert(std::stoi(entry.path().filename()));
  }
  return found;
}

/// The machine may refuse perf_event_open() altogether; the sentences then say so.
bool opens(PerfCounters& counters) {
  const std::vector<std::string> losses = counters.open(kOfKernel);
  for (const std::string& loss : losses) EXPECT_NE(loss.find("perf_event_paranoid"), std::string::npos) << loss;
  return losses.empty();
}

TEST(PerfCounters, CountWhatTheKernelCounts) {
  PerfCounters counters;
  if (!opens(counters)) return;
  rusage begin{}, end{};

  getrusage(RUSAGE_THREAD, &begin);
  const PerfReading before = counters.read();
  touch(300);
  usleep(1000);
  const PerfReading after = counters.read();
  getrusage(RUSAGE_THREAD, &end);

  const auto faults = static_cast<double>(end.ru_minflt + end.ru_majflt - begin.ru_minflt - begin.ru_majflt);
  const auto switches = static_cast<double>(end.ru_nvcsw + end.ru_nivcsw - begin.ru_nvcsw - begin.ru_nivcsw);
  const auto grown = [&](PerfCounter counter) {
    return static_cast<double>(value(after, counter) - value(before, counter));
  };
  EXPECT_GE(faults, 300);
  EXPECT_NEAR(grown(PerfCounter::kPageFaults), faults, 2);
  EXPECT_GE(switches, 1);
  EXPECT_NEAR(grown(PerfCounter::kContextSwitches), switches, 1);
  EXPECT_GT(grown(PerfCounter::kTaskClock), 10'000);
}

TEST(PerfCounters, HaveHighDescriptorsThatCloseOnExec) {
  PerfCounters counters;
  if (!opens(counters)) return;

  const std::set<int> open = counter_descriptors();
  counters.close();

  EXPECT_EQ(open.size(), 3u);
  for (const int fd : open) EXPECT_GE(fd, 512);
  EXPECT_TRUE(counter_descriptors().empty());
  EXPECT_FALSE(counters.is_open());
}

// The job may close all descriptors and open files of its own.
TEST(PerfCounters, NeitherReadNorCloseAFileThatHasTheirNumber) {
  PerfCounters counters;
  if (!opens(counters)) return;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ASSERT_EQ(write(pipe_ends[1], "job", 3), 3);
  const std::set<int> numbers = counter_descriptors();
  for (const int fd : numbers) dup2(pipe_ends[0], fd);

  const PerfReading reading = counters.read();
  counters.close();

  char text[8] = {};
  EXPECT_EQ(reading.known, 0u);
  EXPECT_EQ(read(pipe_ends[0], text, sizeof text), 3);
  for (const int fd : numbers) EXPECT_EQ(close(fd), 0) << fd;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(PerfCounters, OfTheProcessorCountOrSayWhyNot) {
  constexpr PerfCounter kWanted[] = {PerfCounter::kInstructions, PerfCounter::kCycles};
  PerfCounters counters;

  const std::vector<std::string> losses = counters.open(kWanted);
  const PerfReading before = counters.read();
  touch(300);
  const PerfReading after = counters.read();

  if (before.knows(0)) {
    EXPECT_GT(after.values[0], before.values[0] + 1000);
    EXPECT_GE(after.enabled_ns, after.ran_ns);
  } else {
    ASSERT_EQ(losses.size(), 2u);
    EXPECT_TRUE(losses[0].starts_with("instructions cannot be shown: ")) << losses[0];
    EXPECT_EQ(after.enabled_ns, 0u);
  }
}

}  // namespace
}  // namespace profshim
