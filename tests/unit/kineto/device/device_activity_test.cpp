#include "device_fixture.h"

namespace profshim {
namespace {

using test::DeviceTest;
using test::kTid;
using test::kWall;
using test::Row;

// As in Kineto, the innermost operator, its CUDA calls and their kernels share an External id.
TEST_F(DeviceTest, KernelHasTheIdOfTheOperatorThatLaunchedIt) {
  const auto tid = static_cast<std::int32_t>(gettid());
  spool::Thread& thread = *recorder::this_thread();
  const auto op = [&](Ticks begin, Ticks end, const char* name) {
    Event e = test::DeviceEvents::event(HookId::kTorchOperator, begin, end);
    e.name = recorder::intern(name);
    e.torch.sequence = kNoSequence;
    recorder::commit(thread, e);
  };
  op(1110, 1190, "aten::addmm");
  op(1100, 1200, "aten::linear");
  op(1300, 1400, "aten::relu");
  device_->call(1120, 1130, "cudaLaunchKernel", 41, tid);
  device_->kernel(2000, 2100, "gemm", 41);
  device_->call(1195, 1198, "cudaLaunchKernel", 42, tid);
  device_->kernel(2100, 2200, "copy", 42);
  device_->call(1250, 1260, "cudaLaunchKernel", 43, tid);
  device_->kernel(2200, 2300, "nobodys", 43);
  close();

  const auto all = rows();

  std::map<std::string, std::string> id;
  for (const Row& r : all) {
    if (r.phase == "X" && r.args.contains("External id")) id[r.name] += r.args.at("External id") + " ";
  }
  EXPECT_NE(id.at("aten::linear"), id.at("aten::addmm"));
  EXPECT_EQ(id.at("gemm"), id.at("aten::addmm"));
  EXPECT_EQ(id.at("copy"), id.at("aten::linear"));
  EXPECT_FALSE(id.contains("nobodys"));
  EXPECT_EQ(id.at("cudaLaunchKernel"), id.at("gemm") + id.at("copy"));
}

TEST_F(DeviceTest, LaunchNestsInTheRangesOfItsThreadAndPointsToItsActivity) {
  Event range = test::DeviceEvents::event(HookId::kNvtxRange, 1050, 1400);
  range.name = recorder::intern("forward");
  recorder::commit(*recorder::this_thread(), range);
  const std::int32_t own = recorder::this_thread()->tid;
  device_->kernel(1500, 1600, "k", 41);
  device_->call(1100, 1150, "cudaLaunchKernel", 41, own);
  close();

  const auto all = rows();

  const auto at = std::find_if(all.begin(), all.end(), [](const Row& r) { return r.category == "cuda_runtime"; });
  ASSERT_NE(at, all.end());
  EXPECT_EQ(at->tid, own);
  EXPECT_EQ(at->keys, (std::vector<std::string>{"cbid", "correlation"}));
  EXPECT_EQ((at - 1)->name, "forward");
  EXPECT_EQ((at - 1)->tid, own);
  const Row& start = *(at + 1);
  EXPECT_EQ(start.phase, "s");
  EXPECT_EQ(start.id, 41);
  EXPECT_EQ(start.begin, at->begin);
  EXPECT_EQ(start.tid, at->tid);
  const auto kernel = std::find_if(all.begin(), all.end(), [](const Row& r) { return r.category == "kernel"; });
  EXPECT_EQ((kernel + 1)->phase, "f");
  EXPECT_EQ((kernel + 1)->id, 41);
  EXPECT_EQ((kernel + 1)->begin, kernel->begin);
  EXPECT_EQ((kernel + 1)->pid, 0);
  EXPECT_NE(text_.find("\"bp\":\"e\""), std::string::npos);
}

TEST_F(DeviceTest, ActivityBelongsToTheWindowOfItsLaunch) {
  device_->call(900, 950, "cudaLaunchKernel", 40, kTid);
  device_->kernel(1100, 1200, "launched before", 40);
  device_->call(8900, 8950, "cudaLaunchKernel", 41, kTid);
  device_->kernel(9500, 9900, "ends after the window", 41);
  device_->call(9100, 9150, "cudaLaunchKernel", 42, kTid);
  device_->kernel(9900, 9950, "launched after", 42);
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "ends after the window");
  EXPECT_EQ(device_count("kernels"), 1);
  EXPECT_EQ(device_count("device_orphans"), 0);
}

TEST_F(DeviceTest, OrphanIsTakenByItsBeginAndCountedAndHasNoFlow) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->kernel(1200, 1250, "known", 41);
  device_->kernel(2000, 2100, "orphan", 50);
  device_->kernel(990, 2200, "began before", 51);
  device_->kernel(9000, 9100, "began after", 52);
  device_->kernel(3000, 3100, "launched before the window", 12);
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "kernel").size(), 2u);
  EXPECT_EQ(of(all, "ac2g", "s").size(), 1u);
  EXPECT_EQ(of(all, "ac2g", "f").size(), 1u);
  EXPECT_EQ(device_count("device_orphans"), 1);
}

TEST_F(DeviceTest, ImpossibleTimesAreLeftOutAndCountedByReason) {
  constexpr Ticks kSecond = 1'000'000'000;
  for (std::uint32_t i = 41; i < 47; ++i) device_->call(1000 + i, 1000 + i, "cudaLaunchKernel", i, kTid);
  device_->kernel(0, 0, "zero", 41);
  device_->kernel(2000, 0, "no end", 42);
  device_->kernel(2000, 1999, "reversed", 43);
  device_->kernel(2000, 100'000 * kSecond, "endless", 44);
  device_->kernel(100'000 * kSecond, 100'001 * kSecond, "far", 45);
  device_->kernel(2000, 2010, "possible", 46);
  device_->call(3000, 2000, "cudaMalloc", 60, kTid);
  close();

  const auto all = rows();

  ASSERT_EQ(of(all, "kernel").size(), 1u);
  EXPECT_EQ(of(all, "kernel")[0].name, "possible");
  EXPECT_EQ(of(all, "ac2g", "s").size(), 1u) << "a flow starts without an end";
  EXPECT_EQ(device_count("impossible_times.zero"), 2);
  EXPECT_EQ(device_count("impossible_times.reversed"), 2);
  EXPECT_EQ(device_count("impossible_times.outside"), 2);
  EXPECT_EQ(of(all, "cuda_runtime").size(), 6u);
}

TEST_F(DeviceTest, OneCallPerCorrelationAndTheRuntimesCallWins) {
  device_->call(1110, 1140, "cuLaunchKernel", 41, kTid);
  device_->call(1100, 1150, "cudaLaunchKernel_v7000", 41, kTid);
  device_->call(1200, 1250, "__cudaLaunchKernel_v13000", 42, kTid);
  device_->call(1210, 1240, "cuLaunchKernelEx", 42, kTid);
  device_->call(1300, 1350, "cuLaunchKernelEx_ptsz", 43, kTid);
  for (std::uint32_t i = 41; i < 44; ++i) device_->kernel(1000 + i * 10, 1005 + i * 10, "k", i);
  close();

  const auto all = rows();

  const auto runtime = of(all, "cuda_runtime"), driver = of(all, "cuda_driver");
  ASSERT_EQ(runtime.size(), 2u);
  EXPECT_EQ(runtime[0].name, "cudaLaunchKernel");
  EXPECT_EQ(runtime[1].name, "cudaLaunchKernel");
  ASSERT_EQ(driver.size(), 1u);
  EXPECT_EQ(driver[0].name, "cuLaunchKernelEx");
  EXPECT_EQ(of(all, "ac2g", "s").size(), 3u);
}

TEST_F(DeviceTest, GraphLaunchHasOneStartAndManyEnds) {
  device_->call(1100, 1150, "cudaGraphLaunch", 41, kTid);
  for (int i = 0; i < 3; ++i) device_->kernel(2000 + i * 10, 2005 + i * 10, "node", 41);
  device_->other(HookId::kMemset, 2050, 2060,
                 {.correlation = 41, .kind = 3, .context = 1, .stream = 7, .bytes = 640, .graph_node = 77, .graph = 5});
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "ac2g", "s").size(), 1u);
  EXPECT_EQ(of(all, "ac2g", "f").size(), 4u);
  const Row set = of(all, "gpu_memset").at(0);
  EXPECT_EQ(set.name, "Memset (Device)");
  EXPECT_EQ(set.keys, (std::vector<std::string>{"device", "context", "stream", "correlation", "bytes",
                                                "memory bandwidth (GB/s)", "graph id", "graph node id", "step"}));
  EXPECT_EQ(set.args.at("memory bandwidth (GB/s)"), "64");
  EXPECT_EQ(set.args.at("graph id"), "5");
}

TEST_F(DeviceTest, UnknownThreadHasALabeledTrack) {
  device_->call(1100, 1150, "cudaEventQuery", 41, 0);
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "cuda_runtime").at(0).tid, 0xe0001740);
  const auto named =
      std::find_if(all.begin(), all.end(), [](const Row& r) { return r.name == "thread_name" && r.tid == 0xe0001740; });
  ASSERT_NE(named, all.end());
  EXPECT_EQ(named->args.at("name"), "thread 3758102336 (CUPTI's number, tid not known)");
}

TEST_F(DeviceTest, UnfinishedCallIsShownUntilTheWindowEnds) {
  device_->call(1100, 0, "cudaDeviceSynchronize", 41, kTid);
  close();

  const Row call = of(rows(), "cuda_runtime").at(0);

  EXPECT_EQ(call.end, 9000);
  EXPECT_EQ(call.args.at("finished"), "false");
}

TEST_F(DeviceTest, OverlappingKernelsStayOnTheirStreamAndAreCounted) {
  for (std::uint32_t i = 41; i < 44; ++i) device_->call(1000 + i, 1000 + i, "cudaLaunchKernel", i, kTid);
  device_->kernel(2000, 2100, "a", 41);
  device_->kernel(2090, 2200, "b", 42);  // overlaps "a" through programmatic dependent launch
  device_->kernel(2200, 2300, "c", 43);
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 3u);
  for (const Row& k : kernels) EXPECT_EQ(k.tid, 7);
  EXPECT_EQ(kernels[1].begin, 2090);
  EXPECT_EQ(device_count("device_overlaps"), 1);
}

TEST_F(DeviceTest, DevicesAndStreamsAreNamed) {
  recorder::define(spool::DefinitionKind::kStream, 7, recorder::intern("compute"), 0, {0, 1});
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->kernel(1200, 1300, "k", 41);
  close();

  std::set<std::string> names;
  for (const Row& r : rows()) {
    if (r.phase == "M" && r.pid == 0) names.insert(r.name + " " + r.args.begin()->second);
  }

  EXPECT_EQ(names, (std::set<std::string>{"process_name train", "process_labels GPU 0", "process_sort_index 5000000",
                                          "thread_name stream 7 (compute)", "thread_sort_index 7"}));
}

TEST_F(DeviceTest, LostRecordsAreCounted) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  for (int i = 0; i < 64 * 1100; ++i) device_->copy(2000, 2001, 41, 1);
  tolerated_ = {19};  // verify item 19 forbids many copies by one call
  close();
  rows();

  EXPECT_GT(device_count("lost_in_process"), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(device_count("lost_in_process")), summary_.dropped);
}

TEST_F(DeviceTest, DeviceActivityAloneIsWorthAFile) {
  device_->kernel(1200, 1300, "k", 41);
  recorder::close_window(*window_, 9000, 1, spool::WindowEnd::kExit, 0);
  const auto v = view();

  EXPECT_FALSE(kineto::WindowTraceBuilder(*v, 0, {}).empty());
}

TEST_F(DeviceTest, JobWithoutCuptiHasNoDeviceCounts) {
  close();
  rows();

  EXPECT_EQ(device_count("kernels"), -1);
}

TEST_F(DeviceTest, ManyRecordsOutOfOrder) {
  constexpr std::uint32_t kPairs = 15000;
  for (std::uint32_t i = kPairs; i-- > 0;) device_->kernel(2000 + i * 10, 2008 + i * 10, "k", 100 + i, 7 + i % 3);
  for (std::uint32_t i = 0; i < kPairs; ++i)
    device_->call(1000 + i / 10, 1000 + i / 10, "cudaLaunchKernel", 100 + i, kTid);
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "kernel").size(), kPairs);
  EXPECT_EQ(of(all, "ac2g", "s").size(), kPairs);
  EXPECT_EQ(of(all, "ac2g", "f").size(), kPairs);
  EXPECT_EQ(device_count("device_orphans"), 0);
}

}  // namespace
}  // namespace profshim
