// What an operator of PyTorch is given: shapes, strides, types and plain values, read where they lie. No tensor is held
// or copied, and no function of PyTorch's is called.
#pragma once

#include "layout.h"
#include "profshim/event.h"

namespace profshim::torch {

/// Fills the four texts of Event::torch from the inputs of an at::RecordFunction whose start is being told. What does
/// not hold together ends the reading of inputs for good, and is said in problems[].
void describe_inputs(const void* record_function, const Layout& layout, TorchArgs& args);

/// Of the first tensor among the inputs, also one in a list: c10::ScalarType + 1; 0 = none.
std::uint8_t element_type(const void* record_function, const Layout& layout);

/// The address of the c10d::ProcessGroup among the inputs, if one of those that `is_group` knows is there; else null.
const void* process_group(const void* record_function, const Layout& layout, bool (*is_group)(const void*));

}  // namespace profshim::torch
