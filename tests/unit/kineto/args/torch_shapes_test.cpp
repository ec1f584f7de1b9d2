#include <gtest/gtest.h>

#include "kineto/args/torch_args.h"

namespace profshim::kineto {
namespace {

TEST(TorchShapes, TensorsAndListsOfThemAreRead) {
  const auto inputs = read_shapes("[[3, 8], [[4], [5, 6]], []]");

  ASSERT_TRUE(inputs);
  EXPECT_EQ(*inputs, (std::vector<Shapes>{{{3, 8}}, {{4}, {5, 6}}, {{}}}));
}

TEST(TorchShapes, WhatIsNoListIsRefused) {
  for (const char* const text : {"", "[", "[[3, 8]", "[[3, x]]", "{}", "[[[3]", "[[[3], 4]]"}) {
    EXPECT_FALSE(read_shapes(text)) << text;
  }
}

TEST(TorchShapes, TextsAreRead) {
  EXPECT_EQ(read_texts(R"(["float", "", "[1, 1]"])"), (std::vector<std::string_view>{"float", "", "[1, 1]"}));
  EXPECT_TRUE(read_texts("[]").empty());
}

struct FlopsRow {
  const char *op, *dims, *values;
  std::optional<std::uint64_t> flops;
};
class TorchFlops : public testing::TestWithParam<FlopsRow> {};

// The expected numbers are from torch.profiler (torch 2.15, with_flops).
TEST_P(TorchFlops, AreThoseOfPyTorch) {
  const FlopsRow& row = GetParam();
  EXPECT_EQ(torch_flops(row.op, row.dims, row.values), row.flops);
}

INSTANTIATE_TEST_SUITE_P(
    All, TorchFlops,
    testing::Values(FlopsRow{"aten::mm", "[[3, 8], [8, 4]]", R"(["", ""])", 192},
                    FlopsRow{"aten::addmm", "[[4], [3, 8], [8, 4], [], []]", R"(["", "", "", "1", "1"])", 192},
                    FlopsRow{"aten::bmm", "[[2, 3, 8], [2, 8, 4]]", R"(["", ""])", 384},
                    FlopsRow{"aten::baddbmm", "[[2, 3, 4], [2, 3, 8], [2, 8, 4], [], []]", "[]", 384},
                    FlopsRow{"aten::mul", "[[3, 8], []]", R"(["", "2"])", 24},
                    FlopsRow{"aten::add", "[[3, 8], [3, 8], []]", R"(["", "", "1"])", 24},
                    FlopsRow{"aten::conv2d", "[[2, 3, 16, 16], [8, 3, 3, 3], [8], [], [], [], []]",
                             R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"])", 55296},
                    FlopsRow{"aten::conv2d", "[[2, 4, 16, 16], [8, 2, 3, 3], [], [], [], [], []]",
                             R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "2"])", 112896},
                    FlopsRow{"aten::conv2d", "[[2, 4, 16, 16], [8, 2, 3, 3], [], [], [], [], []]",
                             R"(["", "", "", "[1, 1]", "same", "[1, 1]", "2"])", std::nullopt},
                    FlopsRow{"aten::mm", "[[3, 8]]", R"([""])", std::nullopt},
                    FlopsRow{"aten::mm", "damaged", "", std::nullopt},
                    FlopsRow{"aten::relu", "[[3, 8]]", R"([""])", std::nullopt}));

}  // namespace
}  // namespace profshim::kineto
