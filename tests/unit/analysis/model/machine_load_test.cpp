#include "analysis/model/machine_load.h"

#include <gtest/gtest.h>

namespace profshim::analysis_detail {
namespace {

WindowLoad window(const std::string& host, int rank, double waited_us, double process_us) {
  WindowLoad load;
  load.host = host;
  load.rank = rank;
  load.measured_us = 1000;
  load.waited_us = waited_us;
  load.process_us = process_us;
  load.machine_us = 3000;
  load.stolen_us = 1000;
  load.cpus = 4;
  return load;
}

std::optional<WindowLoad> load_of(const std::string& profshim) {
  TraceMetadata metadata;
  metadata.read("profshim", profshim);
  Timeline timeline;
  timeline.host = "a";
  timeline.rank = 3;
  timeline.recording = metadata.recording;
  return window_load(timeline);
}

TEST(MachineLoad, ComesFromTheProfshimObject) {
  const auto load = load_of(
      R"({"version": "1", "cpu": {"measured_us": 2000.5, "waited_us": 3, "process_us": 1999, "machine_us": 4e3, )"
      R"("stolen_us": 0, "cpus": 8}})");

  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->rank, 3);
  EXPECT_EQ(load->measured_us, 2000.5);
  EXPECT_EQ(load->waited_us, 3);
  EXPECT_EQ(load->machine_us, 4000);
  EXPECT_EQ(load->cpus, 8);
}

TEST(MachineLoad, IsUnknownWhereAnythingIsMissingOrMadeUp) {
  EXPECT_FALSE(load_of("").has_value());
  EXPECT_FALSE(load_of("{}").has_value());
  EXPECT_FALSE(load_of(R"({"cpu": {"measured_us": 2000, "waited_us": 3}})").has_value());
  EXPECT_FALSE(load_of(R"({"cpu": {"measured_us": 0, "waited_us": 3, "process_us": 1, "machine_us": 4, )"
                       R"("stolen_us": 0, "cpus": 8}})")
                   .has_value());
  EXPECT_FALSE(load_of(R"({"cpu": {"measured_us": 9, "waited_us": -3, "process_us": 1, "machine_us": 4, )"
                       R"("stolen_us": 0, "cpus": 8}})")
                   .has_value());
}

TEST(MachineLoad, CountsEachMachineOnce) {
  const auto load = machine_load({window("a", 0, 100, 1000), window("a", 1, 300, 500), window("b", 2, 0, 1000)}, 3);

  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->cpus, 8);
  EXPECT_DOUBLE_EQ(load->own, 2.5);
  EXPECT_DOUBLE_EQ(load->others, 1.5 + 2);
  EXPECT_DOUBLE_EQ(load->waited, 0.4);
  EXPECT_DOUBLE_EQ(load->stolen, 1.5 / 4 + 1.0 / 4);  // per machine: stolen * own / (used + stolen)
}

TEST(MachineLoad, NobodyUsesMoreCpusThanThereAre) {
  const auto load = machine_load({window("a", 0, 0, 2500), window("a", 1, 0, 1700)}, 2);

  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->own, 4);
  EXPECT_DOUBLE_EQ(load->others, 0);
  EXPECT_DOUBLE_EQ(load->stolen, 1);
}

TEST(MachineLoad, OfSeveralWindowsIsTheirMean) {
  const auto load = machine_load({window("a", 0, 100, 1000), window("a", 0, 300, 500)}, 1);

  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->own, 0.75);
  EXPECT_DOUBLE_EQ(load->waited, 0.2);
  EXPECT_DOUBLE_EQ(cpus_used({window("a", 0, 100, 1000), window("a", 0, 300, 500)}, 0), 0.75);
  EXPECT_EQ(cpus_used({window("a", 0, 100, 1000)}, 1), -1);
}

TEST(MachineLoad, IsUnknownWhereARankDoesNotSayIt) {
  EXPECT_FALSE(machine_load({window("a", 0, 100, 1000)}, 2).has_value());
  EXPECT_FALSE(machine_load({}, 0).has_value());
}

constexpr MachineLoad kQuiet = {.cpus = 4, .own = 2, .others = 0, .waited = 0, .stolen = 0};

TEST(MachineLoad, ExplainsWaitsByNoMoreThanOthersCanHaveCaused) {
  MachineLoad busy = kQuiet, crowded = kQuiet;
  busy.others = 1;
  busy.waited = 0.9;
  crowded.waited = 0.9;

  EXPECT_DOUBLE_EQ(explained_us(kQuiet, busy, 1000, 10'000), 9000 + 500);
  busy.others = 0.25;
  EXPECT_DOUBLE_EQ(explained_us(kQuiet, busy, 1000, 10'000), 5000 + 125);
  EXPECT_EQ(explained_us(kQuiet, crowded, 1000, 10'000), 0);
  EXPECT_EQ(explained_us(busy, busy, 10'000, 10'000), 0);
  EXPECT_EQ(explained_us(busy, kQuiet, 10'000, 1000), 0);
}

TEST(MachineLoad, ExplainsWhatTheHostTook) {
  MachineLoad robbed = kQuiet;
  robbed.stolen = 0.5;

  EXPECT_DOUBLE_EQ(explained_us(kQuiet, robbed, 1000, 2000), 1000);
}

TEST(MachineLoad, ExplainsNothingWhereItIsNotKnown) {
  EXPECT_EQ(explained_us(std::nullopt, kQuiet, 1000, 2000), 0);
  EXPECT_EQ(explained_us(kQuiet, std::nullopt, 1000, 2000), 0);
}

}  // namespace
}  // namespace profshim::analysis_detail
