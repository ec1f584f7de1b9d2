#include "device_fixture.h"
#include "profshim/hooks/ids.h"

namespace profshim {
namespace {

using test::DeviceTest;
using test::kTid;
using test::kWall;
using test::Row;

class NcclDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    recorder::define(spool::DefinitionKind::kCommunicator, 1, recorder::intern("default_pg"),
                     recorder::intern("[0, 1]"),
                     {0xabcd, 2, 0, 0, static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl), 0});
  }

  void operation(Ticks begin, Ticks end, HookId hook, std::uint32_t id) {
    Event e = test::DeviceEvents::event(hook, begin, end);
    e.nccl = {.count = 1000, .comm = 1, .sequence = 1, .peer = kNone32, .operation = id, .datatype = 7, .bytes = 4000};
    recorder::commit(*recorder::this_thread(), e);
  }

  void launch(Ticks at, std::uint32_t correlation, std::uint32_t operation, const char* kernel) {
    Event e = test::DeviceEvents::event(HookId::kCudaApi, at, at + 10);
    e.name = recorder::intern("cuLaunchKernelEx");
    e.api = {
        .correlation = correlation, .callback_id = 652, .tid = recorder::this_thread()->tid, .external = operation};
    device_->commit(e);
    device_->kernel(at + 100, at + 1100, kernel, correlation);
  }
};

TEST_F(NcclDeviceTest, KernelHasTheArgsOfItsCollective) {
  operation(1100, 1200, hooks::ncclAllReduce, 9);
  launch(1150, 41, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  close();

  const auto all = rows();

  const auto op = std::find_if(all.begin(), all.end(), [](const Row& r) { return r.name == "record_param_comms"; });
  ASSERT_NE(op, all.end());
  const Row kernel = of(all, "kernel").at(0), call = of(all, "cuda_driver").at(0);
  EXPECT_EQ(kernel.keys.front(), "External id");
  EXPECT_EQ(kernel.args.at("External id"), op->args.at("External id"));
  EXPECT_EQ(call.args.at("External id"), op->args.at("External id"));
  EXPECT_EQ(kernel.args.at("Collective name"), "allreduce");
  EXPECT_EQ(kernel.args.at("In msg nelems"), "1000");
  EXPECT_EQ(kernel.args.at("Group size"), "2");
  EXPECT_EQ(kernel.args.at("dtype"), "Float");
  EXPECT_EQ(kernel.args.at("Process Group Ranks"), "[0, 1]");
  EXPECT_NE(metadata_["distributedInfo"].find("\"backend\":\"nccl\""), std::string::npos);
}

TEST_F(NcclDeviceTest, KernelOfACommunicatorOfOneRankHasThemToo) {
  operation(1100, 1200, hooks::ncclAllReduce, 9);
  launch(1150, 41, 9, "_ZN64_GLOBAL__N__13oneRankReduceI13FuncPreMulSumIfEEEvPvS3_mmb");
  close();

  EXPECT_EQ(of(rows(), "kernel").at(0).args.at("Collective name"), "allreduce");
}

TEST_F(NcclDeviceTest, VersionIsInDistributedInfoIfTheBackendIsNccl) {
  recorder::add_metadata("nccl_version", "\"2.21.5\"");
  close();
  rows();
  EXPECT_NE(metadata_["distributedInfo"].find("\"nccl_version\":\"2.21.5\""), std::string::npos)
      << metadata_["distributedInfo"];
  EXPECT_EQ(metadata_["profshim"].find("nccl_version"), std::string::npos);
}

TEST_F(DeviceTest, VersionOfAnUnusedNcclIsInTheProfshimObject) {
  recorder::add_metadata("nccl_version", "\"2.21.5\"");
  close();
  rows();
  EXPECT_EQ(metadata_["distributedInfo"].find("nccl_version"), std::string::npos);
  EXPECT_NE(metadata_["profshim"].find("nccl_version"), std::string::npos);
}

TEST_F(NcclDeviceTest, FusedKernelOfAGroupBelongsToNoOperation) {
  operation(1100, 1110, hooks::ncclAllReduce, 9);
  operation(1120, 1130, hooks::ncclAllReduce, 9);
  operation(1140, 1150, hooks::ncclBroadcast, 9);
  launch(1200, 41, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  launch(2400, 42, 9, "ncclDevKernel_Broadcast_RING_LL");
  close();

  const auto all = rows();

  std::set<std::string> ids;
  for (const Row& r : all) {
    if (r.name == "record_param_comms") ids.insert(r.args.at("External id"));
  }
  EXPECT_EQ(ids.size(), 3u);
  const auto kernels = of(all, "kernel");
  EXPECT_EQ(kernels.at(0).args.count("External id"), 0u);
  EXPECT_EQ(kernels.at(0).args.count("Collective name"), 0u);
  EXPECT_EQ(kernels.at(1).args.at("Collective name"), "broadcast");
}

TEST_F(NcclDeviceTest, ActivityOfAnOperationBeforeTheWindowHasNoId) {
  operation(900, 1200, hooks::ncclAllReduce, 9);
  launch(1150, 41, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  close();

  EXPECT_EQ(of(rows(), "kernel").at(0).args.count("External id"), 0u);
}

}  // namespace
}  // namespace profshim
