// The texts in TorchArgs, read back: one element for each input of an operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace profshim::kineto {

using Shape = std::vector<std::int64_t>;
/// A tensor has one shape, a list of tensors one for each; what is neither has an empty one.
using Shapes = std::vector<Shape>;

/// TorchArgs::dims; nothing when it is no such text.
std::optional<std::vector<Shapes>> read_shapes(std::string_view dims);
/// TorchArgs::types and values.
std::vector<std::string_view> read_texts(std::string_view list);
/// Of a shape; 1 for the shape of a single number.
std::uint64_t elements(const Shape& shape);

/// Floating-point operations of the operators for which PyTorch's profiler has a formula, by that formula
/// (torch/csrc/profiler/util.cpp: multiplications and additions count one each).
std::optional<std::uint64_t> torch_flops(std::string_view op, std::string_view dims, std::string_view values);

}  // namespace profshim::kineto
