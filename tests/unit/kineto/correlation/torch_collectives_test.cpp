#include "kineto/correlation/torch_collectives.h"

#include <deque>
#include <map>

#include "kineto/args/torch_comms_args.h"
#include "profshim/hooks/ids.h"
#include "unit/spool_fixture.h"

namespace profshim::kineto {
namespace {

using Args = std::map<std::string, std::string>;

class TorchCollectivesTest : public test::SpoolFixture {
 protected:
  static constexpr std::uint32_t kGroup = 5;
  void SetUp() override {
    make_spool(8);
    recorder::define(spool::DefinitionKind::kCommunicator, kGroup, recorder::intern("0"),
                     recorder::intern("[0, 1, 2, 3]"),
                     {77, 4, 1, 0, static_cast<std::int64_t>(spool::CommunicatorBackend::kTorch), -1});
  }

  Event* event(HookId hook, const char* name, Ticks begin, Ticks end) {
    Event& made = events_.emplace_back();
    made.hook = hook;
    made.name = recorder::intern(name);
    made.begin = begin;
    made.end = end;
    return &made;
  }
  Event* collective(const char* name, Ticks begin = 10, Ticks end = 50) {
    Event* const made = event(HookId::kTorchOperator, name, begin, end);
    made->torch.group = kGroup;
    return made;
  }
  static void give(Event& event, const char* dims, const char* types, const char* values = "") {
    event.torch.dims = recorder::intern(dims);
    event.torch.types = recorder::intern(types);
    event.torch.values = recorder::intern(values);
  }

  Args args(const Event& op, const Event* work) {
    view_ = view();
    const Definitions definitions(*view_);
    TorchCommsArgs comms(definitions, *view_);
    Args found;
    for (const Arg& arg : comms.args_of(op, work)) {
      found[std::string(arg.key)] = std::visit(
          [](const auto& value) -> std::string {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) return std::to_string(value);
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) return std::string(value);
            return {};
          },
          arg.value);
    }
    return found;
  }

  std::deque<Event> events_;
  std::unique_ptr<spool::View> view_;
};

TEST_F(TorchCollectivesTest, TheRangeOfTheBackendSaysHowMuch) {
  Event* const op = collective("c10d::allreduce_");
  Event* const work = event(HookId::kTorchRange, "gloo:all_reduce", 20, 90);
  give(*work, "[[6, 6]]", R"(["float"])");

  EXPECT_EQ(args(*op, work), (Args{{"Collective name", "allreduce"},
                                   {"In msg nelems", "36"},
                                   {"Out msg nelems", "36"},
                                   {"Group size", "4"},
                                   {"Process Group Name", "0"},
                                   {"Process Group Ranks", "[0, 1, 2, 3]"},
                                   {"Rank", "1"}}));
}

TEST_F(TorchCollectivesTest, WhatIsGatheredIsThatOfAllRanks) {
  Event* const op = collective("c10d::_allgather_base_");
  give(*op, "[[8, 5], [2, 5], [], [], []]", R"(["c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar"])");
  op->element_type = 16;  // c10::ScalarType::BFloat16 + 1

  const Args found = args(*op, nullptr);

  EXPECT_EQ(found.at("In msg nelems"), "10");
  EXPECT_EQ(found.at("Out msg nelems"), "40");
  EXPECT_EQ(found.at("dtype"), "BFloat16");
}

TEST_F(TorchCollectivesTest, BothSidesOfAnExchangeAreThoseOfItsTensors) {
  Event* const op = collective("c10d::alltoall_base_");
  give(*op, "[[7], [5], [], [], []]", R"(["float", "float", "", "", ""])");

  const Args found = args(*op, nullptr);

  EXPECT_EQ(found.at("In msg nelems"), "5");
  EXPECT_EQ(found.at("Out msg nelems"), "7");
}

TEST_F(TorchCollectivesTest, RootsAndPeersAreNamed) {
  Event* const broadcast = collective("c10d::broadcast_");
  give(*broadcast, "[[[3]], [], [], []]", R"(["TensorList", "", "Scalar", "Scalar"])", R"(["", "", "2", "0"])");
  Event* const send = collective("c10d::send");
  give(*send, "[[[3]], [], [], []]", R"(["TensorList", "", "Scalar", "Scalar"])", R"(["", "", "3", "0"])");

  EXPECT_EQ(args(*broadcast, nullptr).at("Root Rank"), "2");
  EXPECT_EQ(args(*send, nullptr).at("Dst Rank"), "3");
}

TEST_F(TorchCollectivesTest, WhatIsNotKnownIsLeftOut) {
  Event* const op = collective("c10d::allreduce_");
  op->torch.group = 0;

  EXPECT_EQ(args(*op, nullptr), (Args{{"Collective name", "allreduce"}}));
}

TEST_F(TorchCollectivesTest, WorkThatEndsOnAnotherThreadBelongsToTheCallItBeganIn) {
  Event *const first = collective("c10d::allreduce_", 10, 50), *const second = collective("c10d::allreduce_", 60, 80);
  Event* const work = event(HookId::kTorchRange, "gloo:all_reduce", 65, 900);
  work->flags = kStartEnd;
  work->torch.record_function = 42;
  Event* const other = event(HookId::kTorchOperator, "aten::add", 66, 67);

  view_ = view();
  TorchCollectives collectives(*view_);
  collectives.add_thread(42, std::vector<const Event*>{first, second, other});
  collectives.add_thread(43, std::vector<const Event*>{work});
  collectives.finish();

  EXPECT_EQ(collectives.find(*first)->work, nullptr);
  EXPECT_EQ(collectives.find(*second)->work, work);
  EXPECT_EQ(collectives.find(*other), nullptr);
  EXPECT_EQ(collectives.backend(), "gloo");
}

TEST_F(TorchCollectivesTest, AnOperationOfNcclsHasWhatIsKnownItself) {
  Event* const op = collective("c10d::allreduce_", 10, 50);
  Event* const nccl = event(hooks::ncclAllReduce, "", 20, 30);

  view_ = view();
  TorchCollectives collectives(*view_);
  collectives.add_thread(42, std::vector<const Event*>{op, nccl});
  collectives.finish();

  EXPECT_TRUE(collectives.find(*op)->has_own_comms);
}

// PyTorch's mark would be shown as a second record_param_comms, without args.
TEST_F(TorchCollectivesTest, PyTorchsMarkGivesWayToTheCallsOfNccl) {
  Event *const first = event(HookId::kTorchOperator, "record_param_comms", 10, 50),
               *const call = event(hooks::ncclAllReduce, "", 20, 30),
               *const other = event(hooks::ncclBroadcast, "", 35, 40),
               *const second = event(HookId::kTorchOperator, "record_param_comms", 60, 70),
               *const add = event(HookId::kTorchOperator, "aten::add", 62, 64);
  std::vector<const Event*> events = {first, call, other, second, add};

  view_ = view();
  drop_doubled_comms(*view_, events);

  EXPECT_EQ(events, (std::vector<const Event*>{call, other, second, add}));
}

}  // namespace
}  // namespace profshim::kineto
