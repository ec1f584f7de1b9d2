// Reads the texts in TorchArgs (one element for each input of an operator), and counts floating-point operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace profshim::kineto {

using Shape = std::vector<std::int64_t>;
/// The shapes of one input: one for a tensor, one per tensor for a list, an empty shape for other inputs.
using Shapes = std::vector<Shape>;

/// Reads TorchArgs::dims; returns nothing if the text is malformed.
std::optional<std::vector<Shapes>> read_shapes(std::string_view dims);
/// Reads TorchArgs::types or TorchArgs::values.
std::vector<std::string_view> read_texts(std::string_view list);
/// Returns the number of elements of a tensor; 1 for a scalar's empty shape.
std::uint64_t elements(const Shape& shape);

/// Returns the floating-point operations by the formulas of PyTorch's profiler (torch/csrc/profiler/util.cpp:
/// multiplications and additions count one each), or nothing if it has no formula for the operator.
std::optional<std::uint64_t> torch_flops(std::string_view op, std::string_view dims, std::string_view values);

}  // namespace profshim::kineto
