#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arg_list.h"
#include "profshim/event.h"

namespace profshim::kineto {
using Shape = std::vector<std::int64_t>;
/// Shapes of one input: one per tensor of a list, else exactly one, empty for scalars and non-tensors.
using Shapes = std::vector<Shape>;

/// Reads TorchArgs::dims.
std::optional<std::vector<Shapes>> read_shapes(std::string_view dims);
/// Reads TorchArgs::values.
std::vector<std::string_view> read_texts(std::string_view list);
std::uint64_t elements(const Shape& shape);

/// Uses the formulas of torch/csrc/profiler/util.cpp; a multiply-add counts as two.
std::optional<std::uint64_t> torch_flops(std::string_view op, std::string_view dims, std::string_view values);

std::string_view memory_name(const Event& event);

using MemoryArgList = ArgList<6>;
void add_memory_args(const Event& event, MemoryArgList& args);

}  // namespace profshim::kineto
