#include "analysis/memory/operator_tree.h"

#include <gtest/gtest.h>

#include "memory_trace.h"

namespace profshim::analysis_detail {
namespace {

using test::json_of;
using test::read;
using test::slice_json;
using test::trace_of;

/// The operators around each memory event of the trace.
std::vector<std::string> operators_in(const std::vector<std::string>& events) {
  const auto reader = read(trace_of(events));
  std::vector<std::string> found;
  for (const MemoryEvent& event : reader->events()) found.push_back(reader->tree().operators(event.node));
  return found;
}

using Names = std::vector<std::string>;

TEST(OperatorTree, FindsTheOperatorsAroundAnEvent) {
  EXPECT_EQ(operators_in({slice_json("aten::linear", 0, 10), slice_json("aten::addmm", 1, 4), json_of({2, 8, 0xa}),
                          slice_json("aten::empty", 5, 2), json_of({6, 8, 0xb}), json_of({9, 8, 0xc}),
                          json_of({11, 8, 0xd})}),
            (Names{"aten::linear > aten::addmm", "aten::linear > aten::empty", "aten::linear", ""}));
}

TEST(OperatorTree, TheOrderInTheFileDoesNotMatter) {
  EXPECT_EQ(operators_in({json_of({2, 8, 0xa}), slice_json("aten::addmm", 1, 4), slice_json("aten::linear", 0, 10),
                          slice_json("aten::mul", 1, 9, "cpu_op", "", 2)}),
            Names{"aten::linear > aten::addmm"});
}

TEST(OperatorTree, StepsAreNoOperatorsButAllocatingCallsAre) {
  EXPECT_EQ(operators_in({slice_json("ProfilerStep#3", 0, 100, "user_annotation"), slice_json("aten::empty", 10, 20),
                          slice_json("cudaMalloc", 12, 8, "cuda_runtime"),
                          slice_json("cuMemAlloc_v2", 13, 6, "cuda_driver"), json_of({15, 8, 0xa}),
                          slice_json("cudaLaunchKernel", 22, 4, "cuda_runtime"), json_of({23, 8, 0xb})}),
            (Names{"aten::empty > cudaMalloc", "aten::empty"}));
}

// Older Kineto rounds begin and duration to microseconds.
TEST(OperatorTree, AnInnerOperatorMayEndAMicrosecondLater) {
  EXPECT_EQ(operators_in({slice_json("outer", 0, 10), slice_json("inner", 2, 9), json_of({5, 8, 0xa}),
                          slice_json("next", 12, 5), json_of({13, 8, 0xb})}),
            (Names{"outer > inner", "next"}));
}

TEST(OperatorTree, AnOverlappingSliceIsNotInside) {
  EXPECT_EQ(operators_in(
                {slice_json("first", 0, 10), slice_json("second", 5, 20), json_of({7, 8, 0xa}), json_of({15, 8, 0xb})}),
            (Names{"second", "second"}));
}

TEST(OperatorTree, ManyOperatorsLoseTheOutermost) {
  std::vector<std::string> events;
  for (int i = 0; i < 12; ++i) events.push_back(slice_json("op" + std::to_string(i), i, 100 - 2 * i));
  events.push_back(json_of({50, 8, 0xa}));

  EXPECT_EQ(operators_in(events), Names{"… > op4 > op5 > op6 > op7 > op8 > op9 > op10 > op11"});
}

TEST(OperatorTree, TheStackIsThatOfTheInnermostOperatorThatHasOne) {
  const auto reader = read(trace_of(
      {slice_json("aten::linear", 0, 10, "cpu_op", R"("Call stack": "a.py(1): f;b.py(2): g", "Native stack": "main")"),
       slice_json("aten::empty", 1, 4), json_of({2, 8, 0xa})}));

  EXPECT_EQ(reader->tree().stack(reader->events()[0].node), "a.py(1): f ← b.py(2): g ← native: main");
}

TEST(OperatorTree, FunctionsOfPythonAreTheStack) {
  const auto reader = read(trace_of({slice_json("train.py(10): main", 0, 90, "python_function"),
                                     slice_json("nn.Module: Linear_0", 5, 50, "python_function"),
                                     slice_json("aten::linear", 6, 9), json_of({7, 8, 0xa})}));
  const OperatorTree::NodeId node = reader->events()[0].node;

  EXPECT_EQ(reader->tree().operators(node), "aten::linear");
  EXPECT_EQ(reader->tree().stack(node), "nn.Module: Linear_0 ← train.py(10): main");
}

}  // namespace
}  // namespace profshim::analysis_detail
