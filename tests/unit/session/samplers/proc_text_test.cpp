#include "session/samplers/proc_text.h"

#include <gtest/gtest.h>

namespace profshim::session {
namespace {

constexpr std::uint64_t kHuge = 18446744073709551615ull;

TEST(ProcText, MachineTicksAreSumsOfTheFirstLine) {
  const auto ticks = parse_machine_ticks("cpu  100 20 30 1000 200 4 6 8 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 5\n");

  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 160u);
  EXPECT_EQ(ticks->all, 1368u);
}

TEST(ProcText, MachineTicksNeedEightFields) {
  EXPECT_FALSE(parse_machine_ticks(""));
  EXPECT_FALSE(parse_machine_ticks("cpu  100 20 30 1000 200 4 6\n"));
  EXPECT_FALSE(parse_machine_ticks("cpu0 100 20 30 1000 200 4 6 8\n"));
  EXPECT_FALSE(parse_machine_ticks("cpu  100 20 thirty 1000 200 4 6 8\n"));
  EXPECT_FALSE(parse_machine_ticks("cpu  99999999999999999999 20 30 1000 200 4 6 8\n"));
}

TEST(ProcText, StatusHasMemoryAndThreads) {
  const ProcessStatus status =
      parse_status("Name:\tVmRSS:\nVmPeak:\t  900 kB\nVmHWM:\t  300 kB\nVmRSS:\t  200 kB\nThreads:\t12\n");

  EXPECT_EQ(status.memory_bytes, 200u * 1024);
  EXPECT_EQ(status.peak_bytes, 300u * 1024);
  EXPECT_EQ(status.threads, 12u);
}

TEST(ProcText, MissingAndHugeNumbersOfStatusAreNoValues) {
  const ProcessStatus status = parse_status("VmHWM:\t18446744073709551615 kB\nThreads:\t18446744073709551615\n");

  EXPECT_FALSE(status.memory_bytes);
  EXPECT_FALSE(status.peak_bytes);
  EXPECT_EQ(status.threads, kHuge);
}

TEST(ProcText, AvailableMemoryIsInBytes) {
  EXPECT_EQ(parse_available("MemTotal:  16 kB\nMemFree:  1 kB\nMemAvailable:    8 kB\n"), 8192u);
  EXPECT_FALSE(parse_available("MemTotal:  16 kB\nMemFree:  1 kB\n"));
  EXPECT_FALSE(parse_available("MemAvailable:\n"));
}

TEST(ProcText, DiskBytesAreThoseOfTheDevice) {
  const auto io = parse_io("rchar: 9\nwchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n");

  ASSERT_TRUE(io);
  EXPECT_EQ(io->in, 4096u);
  EXPECT_EQ(io->out, 8192u);
  EXPECT_FALSE(parse_io("rchar: 9\nread_bytes: 4096\n"));
}

constexpr char kTitles[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n";

TEST(ProcText, NetworkBytesAreSumsWithoutTheLoopback) {
  const auto net = parse_net(std::string(kTitles) +
                             "    lo:    1000   10 0 0 0 0 0 0     1000   10 0 0 0 0 0 0\n"
                             "  eth0:     300    3 0 0 0 0 0 0       40    1 0 0 0 0 0 0\n"
                             "eth0:1:5000000000    3 0 0 0 0 0 0        2    1 0 0 0 0 0 0\n");

  ASSERT_TRUE(net);
  EXPECT_EQ(net->in, 5'000'000'300u);
  EXPECT_EQ(net->out, 42u);
}

TEST(ProcText, ANetworkWithoutInterfacesHasNoBytes) {
  const auto net = parse_net(kTitles);

  ASSERT_TRUE(net);
  EXPECT_EQ(net->in, 0u);
  EXPECT_EQ(net->out, 0u);
}

TEST(ProcText, OtherLinesAreNoNetwork) {
  EXPECT_FALSE(parse_net(""));
  EXPECT_FALSE(parse_net("no titles\n"));
  EXPECT_FALSE(parse_net(std::string(kTitles) + "eth0: 1 2 3\n"));
  EXPECT_FALSE(parse_net(std::string(kTitles) + "eth0 1 2 3 4 5 6 7 8 9\n"));
}

TEST(ProcText, TheMemoryControllerOfVersion1IsPreferred) {
  const auto both = parse_memory_cgroup("9:name=systemd:/s\n4:cpu,memory:/a/b\n0::/c\n");
  const auto second = parse_memory_cgroup("9:name=memory:/s\n0::/c:d\n");

  ASSERT_TRUE(both && second);
  EXPECT_FALSE(both->is_v2);
  EXPECT_EQ(both->path, "/a/b");
  EXPECT_TRUE(second->is_v2);
  EXPECT_EQ(second->path, "/c:d");
  EXPECT_FALSE(parse_memory_cgroup("9:name=systemd:/s\nno colons\n"));
}

TEST(ProcText, ANumberEndsAtABlankOrALine) {
  EXPECT_EQ(parse_number("12\n"), 12u);
  EXPECT_EQ(parse_number("18446744073709551615"), kHuge);
  for (const char* const text : {"", "max\n", "-1", "12x", "18446744073709551616"})
    EXPECT_FALSE(parse_number(text)) << text;
}

}  // namespace
}  // namespace profshim::session
