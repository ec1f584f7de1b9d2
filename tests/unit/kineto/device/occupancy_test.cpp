#include "kineto/device/occupancy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profshim/trace/reader.h"

namespace profshim::kineto {
namespace {

constexpr std::string_view kA100 =
    R"({"id": 0, "name": "A100", "computeMajor": 8, "computeMinor": 0, "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152,
        "numSms": 108, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912,
        "sharedMemPerMultiprocessor": 167936})";

TEST(Occupancy, ReadsTheLimitsOfADevice) {
  const DeviceLimits d = device_limits(kA100);

  EXPECT_EQ(d.major, 8);
  EXPECT_EQ(d.sms, 108);
  EXPECT_EQ(d.shared_per_sm, 167936);
}

TEST(Occupancy, UnknownDevicesHaveNone) {
  EXPECT_EQ(blocks_that_fit({}, {256, 32, 0}), -1);
  EXPECT_EQ(achieved_occupancy_percent(device_limits("{\"computeMajor\": 99}"), {256, 32, 0}, 1), -1);
  EXPECT_EQ(device_limits("no JSON").major, 0);
}

TEST(Occupancy, NumbersThatNoDeviceHasAreHarmless) {
  DeviceLimits d = device_limits(kA100);
  const std::int64_t most = 65535;  // largest block dimension and register count

  EXPECT_EQ(blocks_that_fit(d, {most * most * most, most, 0}), 0);
  d = device_limits(
      R"({"computeMajor": 8, "maxThreadsPerMultiprocessor": 4194303, "regsPerBlock": 4194303, "warpSize": 1,
          "sharedMemPerBlock": 4194303, "regsPerMultiprocessor": 4194303, "sharedMemPerMultiprocessor": 99999999})");
  EXPECT_EQ(d.shared_per_sm, 0) << "not known";
  d.shared_per_sm = d.warp_size = 4194303;
  EXPECT_EQ(blocks_that_fit(d, {4194303, most, 0}), 0);
}

TEST(Occupancy, EachLimitHolds) {
  const DeviceLimits d = device_limits(kA100);

  EXPECT_EQ(blocks_that_fit(d, {32, 0, 0}), 32) << "blocks";
  EXPECT_EQ(blocks_that_fit(d, {1024, 16, 0}), 2) << "warps";
  EXPECT_EQ(blocks_that_fit(d, {256, 128, 0}), 2) << "registers";
  EXPECT_EQ(blocks_that_fit(d, {128, 32, 40 * 1024}), 4) << "shared memory";
  EXPECT_EQ(blocks_that_fit(d, {1024, 255, 0}), 0) << "more registers than a block can have";
  EXPECT_EQ(blocks_that_fit(d, {128, 32, 200 * 1024}), 0) << "more shared memory than there is";
}

// Kineto shows 0 % for kernels that opted in to more shared memory, although they ran.
TEST(Occupancy, KernelsWithMuchSharedMemoryFit) {
  EXPECT_EQ(blocks_that_fit(device_limits(kA100), {128, 222, 81920}), 2);
  EXPECT_EQ(achieved_occupancy_percent(device_limits(kA100), {128, 222, 81920}, 4.74), 13);
}

// Kineto computed the occupancies in these traces with NVIDIA's cuda_occupancy.h.
class OccupancyOfRealTraces : public testing::TestWithParam<const char*> {};

TEST_P(OccupancyOfRealTraces, IsKinetos) {
  std::vector<DeviceLimits> devices;
  int compared = 0;
  TraceVisitor visitor;
  const auto read_devices = [&](std::string_view key, std::string_view json, bool) {
    if (key != "deviceProperties") return;
    devices = {device_limits(json.substr(1, json.find('}')))};
  };
  struct Kernel {
    KernelShape shape;
    double blocks_per_sm = 0;
    std::int64_t percent = -1, grid = 1;
  };
  std::vector<Kernel> kernels;
  visitor.metadata = read_devices;
  visitor.event = [&](const ReadEvent& event) {
    if (event.category != "kernel") return true;
    Kernel k;
    for (const auto& arg : event.args) {
      if (arg.key == "registers per thread") k.shape.registers_per_thread = arg.integer;
      if (arg.key == "shared memory") k.shape.shared_per_block = arg.integer;
      if (arg.key == "blocks per SM") k.blocks_per_sm = arg.number;
      if (arg.key == "est. achieved occupancy %") k.percent = arg.integer;
      if (arg.key == "block") {
        k.shape.threads_per_block = 1;
        json_leaves(arg.text,
                    [&k](std::string_view, const ReadEvent::ReadArg& n) { k.shape.threads_per_block *= n.integer; });
      }
      if (arg.key == "grid") {
        json_leaves(arg.text, [&k](std::string_view, const ReadEvent::ReadArg& n) { k.grid *= n.integer; });
      }
    }
    kernels.push_back(k);
    return true;
  };
  const std::string path = std::string(PROFSHIM_SOURCE_DIR) + "/tests/golden/traces/" + GetParam();
  ASSERT_TRUE(read_trace(path, visitor).ok);
  ASSERT_EQ(devices.size(), 1u);
  const DeviceLimits& d = devices[0];
  for (const Kernel& k : kernels) {
    EXPECT_NEAR(static_cast<double>(k.grid) / static_cast<double>(d.sms), k.blocks_per_sm,
                1e-4 * k.blocks_per_sm + 1e-6);
    if (k.shape.shared_per_block > d.shared_per_block) continue;  // see KernelsWithMuchSharedMemoryFit
    EXPECT_EQ(achieved_occupancy_percent(d, k.shape, k.blocks_per_sm), k.percent)
        << k.shape.threads_per_block << " threads, " << k.shape.registers_per_thread << " registers, "
        << k.shape.shared_per_block << " bytes, " << k.blocks_per_sm << " blocks per SM";
    ++compared;
  }
  EXPECT_GT(compared, 2);
}

INSTANTIATE_TEST_SUITE_P(Files, OccupancyOfRealTraces,
                         testing::Values("hta-ddp-nccl-3steps.json.gz", "tracelens-b200-8gpu-rank0.json.gz",
                                         "hta-cuda-event-sync-multistream.json.gz"),
                         [](const auto& file) { return std::string(1, file.param[0]) + std::to_string(file.index); });

}  // namespace
}  // namespace profshim::kineto
