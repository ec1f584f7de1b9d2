#include "kineto/correlation/nccl_tasks.h"

#include <map>

#include "profshim/hooks/ids.h"
#include "unit/spool_fixture.h"

namespace profshim::kineto {
namespace {

class NcclTasksTest : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(64); }

  static Event call(Ticks begin, HookId hook = hooks::ncclAllReduce) {
    Event event;
    event.hook = hook;
    event.begin = begin;
    event.end = begin + 10;
    event.nccl = {8, 1, 1, kNone32, 0, static_cast<std::uint32_t>(begin), 7, 0, 0, 0, 32};
    return event;
  }

  static Event task(Ticks of_call, const char* algorithm, std::uint8_t channels, bool is_collective = true) {
    Event event;
    event.hook = HookId::kNcclTask;
    event.nccl_task = {.call = of_call,
                       .sequence = 3,
                       .function = recorder::intern("AllReduce"),
                       .algorithm = recorder::intern(algorithm),
                       .protocol = recorder::intern("LL"),
                       .channels = channels,
                       .warps = 16,
                       .is_collective = is_collective ? std::uint8_t{1} : std::uint8_t{0},
                       .reserved = {}};
    return event;
  }

  std::map<std::string, std::string> args(const std::vector<Event>& calls, const std::vector<Event>& tasks,
                                          std::size_t which) {
    const auto spool = view();
    NcclOperations operations;
    for (const Event& event : calls) operations.add(event);
    operations.finish();
    NcclTasks all(*spool);
    for (const Event& event : tasks) all.add(event);
    all.finish(operations);
    summary_ = all.summary();
    std::vector<Arg> added;
    all.add_args(calls[which], added);
    std::map<std::string, std::string> found;
    for (const Arg& arg : added) {
      const auto* const text = std::get_if<std::string_view>(&arg.value);
      found[std::string(arg.key)] =
          text != nullptr ? std::string(*text) : std::to_string(std::get<std::uint64_t>(arg.value));
    }
    return found;
  }

  std::string summary_;
};

using Args = std::map<std::string, std::string>;

TEST_F(NcclTasksTest, ACallHasWhatItsTaskSays) {
  const auto found = args({call(100), call(200)}, {task(200, "TREE", 4), task(100, "RING", 2)}, 1);

  EXPECT_EQ(found, (Args{{"NCCL function", "AllReduce"},
                         {"NCCL algorithm", "TREE"},
                         {"NCCL protocol", "LL"},
                         {"NCCL channels", "4"},
                         {"NCCL warps", "16"},
                         {"NCCL seq", "3"}}));
  EXPECT_EQ(summary_, R"({"seen": 2, "joined": 2})");
}

TEST_F(NcclTasksTest, WhatTheTasksOfACallDisagreeOnIsLeftOut) {
  const auto found = args({call(100)}, {task(100, "RING", 2), task(100, "RING", 4)}, 0);

  EXPECT_EQ(found.count("NCCL channels"), 0U);
  EXPECT_EQ(found.at("NCCL algorithm"), "RING");
}

TEST_F(NcclTasksTest, ASendHasNoCountAndNoWarps) {
  const auto found = args({call(100, hooks::ncclSend)}, {task(100, "", 2, false)}, 0);

  EXPECT_EQ(found.count("NCCL seq"), 0U);
  EXPECT_EQ(found.count("NCCL warps"), 0U);
  EXPECT_EQ(found.count("NCCL algorithm"), 0U);
  EXPECT_EQ(found.at("NCCL channels"), "2");
}

TEST_F(NcclTasksTest, CallsThatBeganAtOnceOnTwoThreadsGetNothing) {
  const auto found = args({call(100), call(100)}, {task(100, "RING", 2)}, 0);

  EXPECT_TRUE(found.empty());
  EXPECT_EQ(summary_, R"({"seen": 1, "joined": 0})");
}

TEST_F(NcclTasksTest, TasksOfNoCallAreCounted) {
  const auto found = args({call(100)}, {task(0, "RING", 2), task(70, "RING", 2), task(100, "TREE", 1)}, 0);

  EXPECT_EQ(found.at("NCCL algorithm"), "TREE");
  EXPECT_EQ(summary_, R"({"seen": 3, "joined": 1})");
}

}  // namespace
}  // namespace profshim::kineto
