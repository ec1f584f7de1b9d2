#include "kineto/args/nccl_operation_args.h"

#include <cmath>
#include <map>

#include "profshim/hooks/ids.h"
#include "profshim/trace/events.h"
#include "unit/spool_fixture.h"

namespace profshim::kineto {
namespace {

constexpr std::uint32_t kWorld = 1u << 30, kPair = kWorld + 1, kUnknownGroup = kWorld + 2;
constexpr std::uint64_t kIdentity = 0xfedcba9876543210;

std::string text_of(const decltype(Arg::value)& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return std::to_string(*n);
  if (const auto* n = std::get_if<std::uint64_t>(&value)) return std::to_string(*n);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string_view>(&value)) return std::string(*s);
  return "?";
}

std::map<std::string, std::string> as_map(std::span<const Arg> args) {
  std::map<std::string, std::string> out;
  for (const Arg& arg : args) {
    EXPECT_TRUE(out.emplace(arg.key, text_of(arg.value)).second) << arg.key << " twice";
  }
  return out;
}

Event operation(HookId hook, std::uint64_t count, std::uint8_t type, std::uint32_t comm = kWorld) {
  Event event;
  event.hook = hook;
  event.begin = 10;
  event.end = 20;
  event.nccl = {count, comm, 5, kNone32, 0, 1, type, kNoByte, 0, 0, 0};
  return event;
}

class NcclArgsTest : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(64);
    recorder::header().rank = 1;
    recorder::header().world_size = 4;
    const auto nccl = static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl);
    recorder::define(spool::DefinitionKind::kCommunicator, kWorld, recorder::intern("init"),
                     recorder::intern("[0, 1, 2, 3]"), {static_cast<std::int64_t>(kIdentity), 4, 1, 0, nccl, 0});
    recorder::define(spool::DefinitionKind::kCommunicator, kPair, recorder::intern("split of init"), 0,
                     {77, 2, 0, kWorld, nccl, 1});
    recorder::define(spool::DefinitionKind::kCommunicator, kUnknownGroup, recorder::intern("communicator"), 0,
                     {0, 0, -1, 0, nccl, -1});
    view_ = view();
    definitions_ = std::make_unique<Definitions>(*view_);
    args_ = std::make_unique<NcclOperationArgs>(*definitions_, 1);
  }

  std::unique_ptr<spool::View> view_;
  std::unique_ptr<Definitions> definitions_;
  std::unique_ptr<NcclOperationArgs> args_;
};

struct Expected {
  HookId hook;
  const char *collective, *annotation;
  std::uint64_t in, out;  // element counts when each of 4 ranks passes count 6
};
constexpr Expected kFamilies[] = {
    {hooks::ncclAllReduce, "allreduce", "nccl:all_reduce", 6, 6},
    {hooks::ncclAllReduceConfig, "allreduce", "nccl:all_reduce", 6, 6},
    {hooks::ncclAllGather, "_allgather_base", "nccl:_all_gather_base", 6, 24},
    {hooks::ncclReduceScatter, "_reduce_scatter_base", "nccl:_reduce_scatter_base", 24, 6},
    {hooks::ncclBroadcast, "broadcast", "nccl:broadcast", 6, 6},
    {hooks::ncclBcast, "broadcast", "nccl:broadcast", 6, 6},
    {hooks::ncclReduce, "reduce", "nccl:reduce", 6, 6},
    {hooks::ncclAlltoAll, "all_to_all", "nccl:all_to_all", 24, 24},
    {hooks::ncclGather, "gather", "nccl:gather", 6, 24},
    {hooks::ncclScatter, "scatter", "nccl:scatter", 24, 6},
};

TEST_F(NcclArgsTest, EachFamilyHasPyTorchsNamesAndSizes) {
  for (const Expected& expected : kFamilies) {
    ASSERT_TRUE(is_nccl_operation(expected.hook));
    const Event event = operation(expected.hook, 6, 7);
    const auto args = as_map(args_->of_operation(event));
    EXPECT_EQ(args.at("Collective name"), expected.collective);
    EXPECT_EQ(args.at("In msg nelems"), std::to_string(expected.in)) << expected.collective;
    EXPECT_EQ(args.at("Out msg nelems"), std::to_string(expected.out)) << expected.collective;
    EXPECT_EQ(args.at("Group size"), "4");
    EXPECT_EQ(args.at("dtype"), "Float");
    EXPECT_EQ(args.at("Process Group Name"), "fedcba9876543210");
    EXPECT_EQ(args.at("Process Group Description"), "init");
    EXPECT_EQ(args.at("Process Group Ranks"), "[0, 1, 2, 3]");
    EXPECT_EQ(args.at("Seq"), "5");
    EXPECT_EQ(args.at("Comms Id"), std::to_string(kIdentity));
    EXPECT_EQ(args.at("Rank"), "1");
    EXPECT_EQ(args_->annotation_name(event), expected.annotation);
  }
  for (const HookId hook : {hooks::ncclGroupEnd, hooks::ncclCommInitRank, hooks::ncclPutSignal, hooks::MPI_Reduce}) {
    EXPECT_FALSE(is_nccl_operation(hook)) << hook_name(hook);
  }
}

TEST_F(NcclArgsTest, TypesAreNamedAsC10NamesThem) {
  const char* const names[] = {"Char", "Byte",  "Int",    "UInt32",   "Long",          "UInt64",
                               "Half", "Float", "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};
  for (std::uint8_t i = 0; i < 12; ++i) EXPECT_EQ(nccl_type_name(i), names[i]);
  EXPECT_EQ(nccl_type_name(12), "");
  EXPECT_EQ(nccl_type_name(kNoByte), "");
}

TEST_F(NcclArgsTest, AllFiveOrNone) {
  const std::vector<Event> incomplete = {
      operation(hooks::ncclAllReduce, 0, kNoByte),           // no type: NVTX alone showed the call
      operation(hooks::ncclAllReduce, 6, 7, kUnknownGroup),  // unknown number of ranks
      operation(hooks::ncclAllReduce, 6, 7, 0),              // no communicator
      operation(hooks::ncclAllReduce, 6, 12),                // a data type of a later NCCL
  };
  for (const Event& event : incomplete) {
    for (const auto& args : {as_map(args_->of_kernel(event, 1000)), as_map(args_->of_operation(event))}) {
      for (const char* key : {"Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype",
                              "algorithm bandwidth (GB/s)"}) {
        EXPECT_EQ(args.count(key), 0U) << key;
      }
    }
  }
  EXPECT_EQ(as_map(args_->of_operation(incomplete[1])).count("Comms Id"), 0U);
}

TEST_F(NcclArgsTest, MessagesNameBothEnds) {
  Event send = operation(hooks::ncclSend, 6, 9);
  send.nccl.peer = 3;
  send.nccl.sequence = 0;
  auto args = as_map(args_->of_operation(send));
  EXPECT_EQ(args.at("Src Rank"), "1");
  EXPECT_EQ(args.at("Dst Rank"), "3");
  EXPECT_EQ(args.at("Rank"), "3") << "the peer's, as PyTorch has it";
  EXPECT_EQ(args.count("Seq"), 0U);
  EXPECT_EQ(args_->annotation_name(send), "nccl:send 1->3");
  Event receive = operation(hooks::ncclRecv, 6, 9);
  receive.nccl.peer = 2;
  args = as_map(args_->of_operation(receive));
  EXPECT_EQ(args.at("Src Rank"), "2");
  EXPECT_EQ(args.at("Dst Rank"), "1");
  EXPECT_EQ(args_->annotation_name(receive), "nccl:recv 1<-2");
  // The members of kPair are unknown, so the trace shows ranks within the communicator.
  Event in_pair = operation(hooks::ncclSend, 6, 9, kPair);
  in_pair.nccl.peer = 1;
  args = as_map(args_->of_operation(in_pair));
  EXPECT_EQ(args.at("Src Rank"), "1");
  EXPECT_EQ(args.count("Dst Rank"), 0U);
  EXPECT_EQ(args_->annotation_name(in_pair), "nccl:send 0->1");
}

TEST_F(NcclArgsTest, RootsAreNamed) {
  Event reduce = operation(hooks::ncclReduce, 6, 7);
  reduce.nccl.peer = 2;
  EXPECT_EQ(as_map(args_->of_operation(reduce)).at("Root Rank"), "2");
}

// The expected GB/s are for 4 ranks, 1000 floats and 1 us, computed by hand from nccl-tests' doc/PERFORMANCE.md.
TEST_F(NcclArgsTest, BandwidthIsThatOfNcclTests) {
  struct Case {
    HookId hook;
    double algorithm, bus;
  };
  for (const Case& c :
       {Case{hooks::ncclAllReduce, 4, 6}, Case{hooks::ncclAllGather, 16, 12}, Case{hooks::ncclReduceScatter, 16, 12},
        Case{hooks::ncclBroadcast, 4, 4}, Case{hooks::ncclReduce, 4, 4}, Case{hooks::ncclAlltoAll, 16, 12},
        Case{hooks::ncclGather, 16, 12}, Case{hooks::ncclScatter, 16, 12}, Case{hooks::ncclSend, 4, 4}}) {
    const auto rate = nccl_bandwidth(operation(c.hook, 1000, 7), 4, 1000);
    ASSERT_TRUE(rate.has_value()) << hook_name(c.hook);
    EXPECT_DOUBLE_EQ(rate->algorithm, c.algorithm) << hook_name(c.hook);
    EXPECT_DOUBLE_EQ(rate->bus, c.bus) << hook_name(c.hook);
  }
  EXPECT_DOUBLE_EQ(nccl_bandwidth(operation(hooks::ncclAllReduce, 1000, 7), 1, 1000)->bus, 0);
  EXPECT_FALSE(nccl_bandwidth(operation(hooks::ncclAllReduce, 1000, 7), 4, 0).has_value());
  EXPECT_FALSE(nccl_bandwidth(operation(hooks::ncclAllReduce, 1000, kNoByte), 4, 1000).has_value());
  EXPECT_FALSE(nccl_bandwidth(operation(hooks::ncclGroupEnd, 1000, 7), 4, 1000).has_value());
}

TEST_F(NcclArgsTest, AKernelBelongsToTheOneOperationItCanBelongTo) {
  const Event reduce = operation(hooks::ncclAllReduce, 6, 7), gather = operation(hooks::ncclAllGather, 6, 7),
              rooted = operation(hooks::ncclReduce, 6, 7), again = operation(hooks::ncclAllReduce, 8, 7),
              other_device = operation(hooks::ncclAllReduce, 8, 7, kPair),
              end = operation(hooks::ncclGroupEnd, 2, kNoByte);
  const Event* const mixed[] = {&reduce, &gather, &rooted, &end};
  EXPECT_EQ(args_->operation_of_kernel(mixed, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", 0),
            &reduce);
  EXPECT_EQ(args_->operation_of_kernel(mixed, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)", 0), &gather);
  EXPECT_EQ(args_->operation_of_kernel(mixed, "ncclKernel_Reduce_RING_LL_Sum_float(ncclDevComm*)", 0), &rooted);
  EXPECT_EQ(args_->operation_of_kernel(mixed, "ncclDevKernel_Generic(ncclDevKernelArgs)", 0), nullptr);
  const Event* const two[] = {&reduce, &again};
  EXPECT_EQ(args_->operation_of_kernel(two, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0), nullptr) << "one for both";
  const Event* const on_two_devices[] = {&reduce, &other_device, &end};
  EXPECT_EQ(args_->operation_of_kernel(on_two_devices, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1), &other_device);
  EXPECT_EQ(args_->operation_of_kernel(on_two_devices, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0), &reduce);
  const Event* const alone[] = {&reduce, &end};
  EXPECT_EQ(args_->operation_of_kernel(alone, "ncclDevKernel_Generic(ncclDevKernelArgs)", 0), &reduce);
}

}  // namespace
}  // namespace profshim::kineto
