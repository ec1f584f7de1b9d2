#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

RUNS_IN_ONE_PROCESS(TorchRpc);

class TorchRpc : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (torch_major() < 1 || !torch_has_rpc()) return;
    const ScratchFolder scratch;
    expect_same(run_both(torch_job(scratch, Launch::kTwoRanks, "rpc/rpc_calls.py", "steps.source=none")));
    traces_ = read_folder(scratch / "traces");
  }
  static void TearDownTestSuite() { traces_.clear(); }
  void SetUp() override {
    NEEDS_RPC();
    ASSERT_EQ(traces_.size(), 2u);
  }

  std::vector<const SeenEvent*> events(int rank, const std::string& role, const std::string& phase) const {
    std::vector<const SeenEvent*> found;
    for (const SeenEvent& e : traces_[static_cast<std::size_t>(rank)].events) {
      const auto at = e.args.find("rpc");
      if (e.phase == phase && at != e.args.end() && at->second == role) found.push_back(&e);
    }
    return found;
  }
  const SeenEvent* find(int rank, const std::string& role, const std::string& phase, const SeenEvent& like) const {
    for (const SeenEvent* e : events(rank, role, phase)) {
      if (e->args.at("id") == like.args.at("id") && e->args.at("from") == like.args.at("from")) return e;
    }
    return nullptr;
  }
  std::int64_t end_of(int rank, const SeenEvent& request) const {
    for (const SeenEvent& e : traces_[static_cast<std::size_t>(rank)].events) {
      if (e.phase == "e" && e.id == request.id) return e.ts_ns;
    }
    return 0;
  }

  static inline std::vector<SeenTrace> traces_;
};

TEST_F(TorchRpc, RequestsHaveNames) {
  std::map<std::string, int> sent;
  for (const SeenEvent* e : events(0, "sent", "X")) ++sent[e->name];

  for (const char* const what :
       {"call#aten::add", "call#plus", "call#Scale.same", "remote#Scale", "call#rref.times", "remote#aten::mul",
        "rref_fetch", "call#__torch__.scripted", "call#passes_on", "call#fails", "call#sleeps", "backward"}) {
    const std::string name = "rpc_" + std::string(what) + "(worker0 -> worker1)";
    EXPECT_EQ(sent[name], name.find("plus") != std::string::npos ? 2 : 1) << name;
  }
  for (int rank = 0; rank < 2; ++rank) {
    const SeenTrace& trace = traces_[static_cast<std::size_t>(rank)];
    EXPECT_EQ(trace.property("rpc_worker"), "worker" + std::to_string(rank));
    EXPECT_EQ(trace.property("problems"), "[]");
  }
}

// Both workers run on one host and use one clock.
TEST_F(TorchRpc, EachRequestIsMatchedWithItsExecution) {
  constexpr std::int64_t kClocksDiffer = 200'000;
  int joined = 0, inside = 0;
  for (int rank = 0; rank < 2; ++rank) {
    for (const SeenEvent* const sent : events(rank, "sent", "X")) {
      const SeenEvent* const request = find(rank, "request", "b", *sent);
      ASSERT_NE(request, nullptr) << sent->name;
      EXPECT_EQ(request->name, sent->name);
      EXPECT_EQ(request->ts_ns, sent->ts_ns);
      EXPECT_EQ(request->tid, sent->tid);
      EXPECT_GT(end_of(rank, *request), sent->ts_ns) << sent->name;
      const int other = sent->args.at("to") == "worker0" ? 0 : 1;
      const SeenEvent* const served = find(other, "served", "X", *sent);
      if (served == nullptr) continue;
      ++joined;
      EXPECT_EQ(served->name, sent->name + "#remote_op");
      EXPECT_EQ(served->args.at("to"), sent->args.at("to"));
      EXPECT_EQ(served->args.at("bytes"), sent->args.at("bytes"));
      EXPECT_GT(served->ts_ns, sent->ts_ns - kClocksDiffer);
      const bool has_failed = request->args.contains("failed");
      EXPECT_TRUE(has_failed || served->ts_ns < end_of(rank, *request) + kClocksDiffer);
      if (sent->name.find("#aten::add") == std::string::npos && sent->name.find("#plus") == std::string::npos) continue;
      for (const SeenEvent* add : traces_[static_cast<std::size_t>(other)].calls("aten::add")) {
        inside += add->tid == served->tid && add->ts_ns >= served->ts_ns &&
                  add->ts_ns + add->duration_ns <= served->ts_ns + served->duration_ns;
      }
    }
  }
  EXPECT_GE(joined, 12);
  EXPECT_EQ(inside, 6);  // two calls each of aten::add and plus; aten::add of a number contains another
}

TEST_F(TorchRpc, AbandonedRequestIsMarkedFailed) {
  std::vector<std::string> failed;
  for (const SeenEvent* e : events(0, "request", "b")) {
    if (e->args.contains("failed")) failed.push_back(e->name);
  }
  EXPECT_EQ(failed, std::vector<std::string>{"rpc_call#sleeps(worker0 -> worker1)"});
}

}  // namespace
}  // namespace profshim::e2e
