#include "profshim/memory_room.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "profshim/recorder_control.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using recorder::Bound;
using recorder::MemoryRoom;
using recorder::Room;

constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30;

class MemoryRoomTest : public testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = folder_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void bytes(const std::string& path, std::uint64_t value) { file(path, std::to_string(value) + "\n"); }
  Room room(std::uint64_t host_memory, std::uint64_t sharers = 1, std::uint64_t held = 0) {
    return MemoryRoom(host_memory, sharers, folder_.path()).now(held, 0);
  }
  void version_1(const std::string& own, const std::string& root) {
    file("/proc/self/cgroup", "5:cpu:/elsewhere\n4:memory:" + own + "\n0::/\n");
    file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 " + root +
                                     " /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n");
  }
  void version_2(const std::string& own, const std::string& root) {
    file("/proc/self/cgroup", "0::" + own + "\n");
    file("/proc/self/mountinfo", "31 23 0:28 " + root + " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  }

  test::TemporaryFolder folder_;
};

TEST_F(MemoryRoomTest, IsHostMemoryIfNothingElseIsKnown) {
  const Room found = room(64 * kMiB);

  EXPECT_EQ(found.bytes, 64 * kMiB);
  EXPECT_EQ(found.bound, Bound::kHostMemory);
  EXPECT_FALSE(found.pressed_by);
}

TEST_F(MemoryRoomTest, IsASixteenthOfTheRoomInTheCgroup) {
  version_2("/job", "/");
  bytes("/sys/fs/cgroup/job/memory.max", 4 * kGiB);
  bytes("/sys/fs/cgroup/job/memory.current", 1 * kGiB);
  file("/sys/fs/cgroup/job/memory.stat", "anon 12\ninactive_file 1073741824\n");

  EXPECT_EQ(room(8 * kGiB).bytes, 4 * kGiB / 16) << "files that the kernel can drop are free";
  EXPECT_EQ(room(8 * kGiB, 4).bytes, 4 * kGiB / 16 / 4);
  EXPECT_EQ(room(8 * kGiB).bound, Bound::kCgroup);
}

TEST_F(MemoryRoomTest, ObeysEveryCgroupAboveAndMemoryHigh) {
  version_2("/slice/job", "/");
  file("/sys/fs/cgroup/slice/job/memory.max", "max\n");
  file("/sys/fs/cgroup/slice/memory.max", "max\n");
  bytes("/sys/fs/cgroup/slice/memory.high", 1 * kGiB);
  bytes("/sys/fs/cgroup/slice/memory.current", 512 * kMiB);

  EXPECT_EQ(room(8 * kGiB).bytes, 512 * kMiB / 16);
}

TEST_F(MemoryRoomTest, ReadsVersion1InAContainerThatSeesAPartOfTheTree) {
  version_1("/docker/abc", "/docker/abc");
  bytes("/sys/fs/cgroup/memory/memory.limit_in_bytes", 2 * kGiB);
  bytes("/sys/fs/cgroup/memory/memory.usage_in_bytes", 1 * kGiB);
  file("/sys/fs/cgroup/memory/memory.stat", "inactive_file 0\ntotal_inactive_file 536870912\n");

  EXPECT_EQ(room(8 * kGiB).bytes, (1 * kGiB + 512 * kMiB) / 16);
}

TEST_F(MemoryRoomTest, ReadsACgroupNamespaceWhoseRootLiesAbove) {
  version_2("/../../outside", "/");
  bytes("/sys/fs/cgroup/memory.max", 1 * kGiB);
  bytes("/sys/fs/cgroup/memory.current", 0);

  EXPECT_EQ(room(8 * kGiB).bytes, 1 * kGiB / 16);
}

TEST_F(MemoryRoomTest, UnderstandsTheLargeNumberThatMeansNoLimitInVersion1) {
  version_1("/job", "/");
  bytes("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", 9223372036854771712u);
  bytes("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", 1 * kGiB);

  EXPECT_EQ(room(8 * kGiB).bound, Bound::kHostMemory);
}

TEST_F(MemoryRoomTest, IsPressedWhenTheJobHasLessLeftThanIsHeld) {
  version_2("/job", "/");
  bytes("/sys/fs/cgroup/job/memory.max", 1 * kGiB);
  bytes("/sys/fs/cgroup/job/memory.current", 1 * kGiB - 30 * kMiB);

  EXPECT_FALSE(room(8 * kGiB, 1, 20 * kMiB).pressed_by);
  EXPECT_EQ(room(8 * kGiB, 1, 40 * kMiB).pressed_by, Bound::kCgroup);
}

TEST_F(MemoryRoomTest, IsBoundedByTheMachineAndByStrictOvercommit) {
  file("/proc/meminfo",
       "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nCommitLimit: 4194304 kB\nCommitted_AS: 0 kB\n");
  EXPECT_EQ(room(8 * kGiB).bytes, 1 * kGiB);

  file("/proc/sys/vm/overcommit_memory", "2\n");
  EXPECT_EQ(room(8 * kGiB).bytes, 512 * kMiB);
  EXPECT_EQ(room(8 * kGiB).bound, Bound::kMachine);
}

TEST_F(MemoryRoomTest, TakesAnEighthOfAFileSystemForAllRanksTogether) {
  const MemoryRoom one(8 * kGiB, 1, folder_.path()), four(8 * kGiB, 4, folder_.path());
  struct std::filesystem::space_info space = std::filesystem::space(folder_.path());

  EXPECT_GT(one.room_in(folder_.path()), 0u);
  EXPECT_LE(one.room_in(folder_.path()), space.capacity / 8);
  EXPECT_LE(four.room_in(folder_.path()), space.capacity / 32);
  EXPECT_EQ(one.room_in(folder_.path() + "/nothing"), 0u);
}

TEST_F(MemoryRoomTest, LeavesMostOfTheAddressSpaceToTheJob) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  file("/proc/self/statm", "65536 0 0 0 0 65536 0\n");
  rlimit tight = before;
  tight.rlim_cur = std::uint64_t{64} << 30;
  if (setrlimit(RLIMIT_AS, &tight) != 0) GTEST_SKIP() << "address space is limited to less already";
  const Room found = room(std::uint64_t{1} << 40);
  setrlimit(RLIMIT_AS, &before);

  EXPECT_EQ(found.bound, Bound::kAddressSpace);
  EXPECT_LE(found.bytes, std::uint64_t{8} << 30);
  EXPECT_GE(found.bytes, std::uint64_t{7} << 30);
}

}  // namespace
}  // namespace profshim
