#include "session/samplers/system_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <map>
#include <string>
#include <vector>

#include "unit/spool_fixture.h"

namespace profshim::session {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Returns the paths of the open descriptors by number.
std::map<int, std::string> descriptors() {
  std::map<int, std::string> found;
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* const entry = readdir(folder)) {
    char target[PATH_MAX] = {};
    const int fd = std::atoi(entry->d_name);
    const ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
    if (length > 0 && fd != dirfd(folder)) found[fd] = target;
  }
  closedir(folder);
  return found;
}

TEST(Rate, IsGrowthPerSecond) {
  Rate rate;

  EXPECT_FALSE(rate.next(1000, 100 * kMs));
  EXPECT_EQ(rate.next(1500, 600 * kMs), 1000.0);
  EXPECT_EQ(rate.next(1500, 700 * kMs), 0.0);
}

TEST(Rate, ACountThatGoesBackBeginsAnew) {
  Rate rate;
  rate.next(1000, 100 * kMs);

  EXPECT_FALSE(rate.next(10, 200 * kMs));
  EXPECT_EQ(rate.next(110, 300 * kMs), 1000.0);
}

TEST(Rate, ReadingsThatAreTooCloseKeepTheOlderOne) {
  Rate rate;
  rate.next(1000, 100 * kMs);

  EXPECT_FALSE(rate.next(1001, 101 * kMs));
  EXPECT_EQ(rate.next(1100, 200 * kMs), 1000.0);
}

TEST(Rate, TakesTheLargestCounts) {
  Rate rate;
  rate.next(ULLONG_MAX - 100, 0);

  EXPECT_EQ(rate.next(ULLONG_MAX, 100 * kMs), 1000.0);
}

TEST(SampleTimes, AreCloseTogetherAtFirst) {
  SampleTimes times(0.3);
  std::vector<std::int64_t> due_ms;

  times.begin(1000 * kMs);
  for (int i = 0; i < 6; ++i) {
    due_ms.push_back(times.next_ns() / kMs);
    times.taken(times.next_ns());
  }

  EXPECT_EQ(due_ms, (std::vector<std::int64_t>{1000, 1050, 1150, 1350, 1650, 1950}));
}

TEST(SampleTimes, LateSamplesAreSkipped) {
  SampleTimes times(0.05);
  times.begin(0);

  times.taken(1020 * kMs);

  EXPECT_EQ(times.next_ns(), 1070 * kMs);
}

TEST(ProcFile, NeitherReadsNorClosesAFileOfTheJobWithItsDescriptor) {
  const auto before = descriptors();
  char text[256];
  {
    ProcFile file("/proc/self/statm");
    ASSERT_TRUE(file.read(text));
    const auto after = descriptors();
    ASSERT_EQ(after.size(), before.size() + 1);
    int fd = -1;
    for (const auto& [number, path] : after)
      if (!before.contains(number)) fd = number;
    const int other = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    dup2(other, fd);
    close(other);

    const auto read = file.read(text);

    ASSERT_TRUE(read);
    EXPECT_GT(std::stol(std::string(*read)), 0);
    file.close();
    EXPECT_EQ(descriptors()[fd], "/dev/zero");
    close(fd);
  }
  EXPECT_EQ(descriptors(), before);
}

TEST(ProcFile, ClosedDescriptorsAreOpenedAgain) {
  ProcFile file("/proc/self/statm");
  char text[256];
  ASSERT_TRUE(file.read(text));
  for (const auto& [number, path] : descriptors())
    if (path.ends_with("/statm")) close(number);

  EXPECT_TRUE(file.read(text));
}

TEST(ProcFile, TellsWhyItCannotBeRead) {
  ProcFile file("/proc/self/no_such_file");
  char text[256];

  EXPECT_FALSE(file.read(text));
  EXPECT_EQ(file.error(), ENOENT);
}

class Sampling : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(64); }

  static Spec::System all() {
    Spec::System wanted;
    wanted.cpu = wanted.memory = wanted.disk = wanted.net = true;
    wanted.interval_seconds = 0.01;
    return wanted;
  }

  // Returns the samples by counter.
  static std::map<SystemCounter, std::vector<double>> samples() {
    std::map<SystemCounter, std::vector<double>> found;
    view()->for_each_run([&](const spool::Run& run) {
      if (run.header->tid != spool::kSystemTid) return;
      for (std::uint32_t i = 0; i < run.count; ++i)
        found[run.events[i].system.counter].push_back(run.events[i].system.value);
    });
    return found;
  }
};

TEST_F(Sampling, HappensOnlyInWindows) {
  const auto before = descriptors();
  SystemSampler sampler(all());

  sampler.tick(false, 0);
  EXPECT_TRUE(samples().empty());
  sampler.tick(true, 1);
  const auto in_window = samples();
  EXPECT_GT(descriptors().size(), before.size());
  sampler.tick(false, 1);
  usleep(20'000);
  sampler.tick(false, 1);

  EXPECT_EQ(samples(), in_window);
  EXPECT_EQ(in_window.at(SystemCounter::kProcessMemory).size(), 1u);
  EXPECT_EQ(descriptors(), before);
}

TEST_F(Sampling, RatesNeedASecondSampleInTheSameWindow) {
  SystemSampler sampler(all());

  sampler.tick(true, 1);
  sampler.tick(false, 1);
  usleep(20'000);
  sampler.tick(true, 2);
  EXPECT_FALSE(samples().contains(SystemCounter::kProcessCpu));
  usleep(20'000);
  sampler.tick(true, 2);

  EXPECT_EQ(samples()[SystemCounter::kProcessCpu].size(), 1u);
  EXPECT_EQ(samples()[SystemCounter::kProcessMemory].size(), 3u);
}

TEST_F(Sampling, TakesOnlyWhatTheSpecWants) {
  Spec::System wanted = all();
  wanted.cpu = wanted.disk = wanted.net = false;
  SystemSampler sampler(wanted);

  sampler.tick(true, 1);

  const auto found = samples();
  EXPECT_TRUE(found.contains(SystemCounter::kProcessMemory));
  EXPECT_TRUE(found.contains(SystemCounter::kMachineMemory));
  EXPECT_FALSE(found.contains(SystemCounter::kProcessThreads));
}

}  // namespace
}  // namespace profshim::session
