// Reads the inputs of PyTorch operators (shapes, strides, types and plain values) in place. Holds and copies no tensor,
// and calls no function of PyTorch.
#pragma once

#include "layout.h"
#include "profshim/event.h"

namespace profshim::torch {

/// Fills the four texts of Event::torch from the inputs of an at::RecordFunction, while an observer
/// handles its start. If the memory is inconsistent, reports it in problems[] and describes no inputs from then on.
void describe_inputs(const void* record_function, const Layout& layout, TorchArgs& args);

/// Returns c10::ScalarType + 1 of the first tensor among the inputs and their lists; 0 if there is none.
std::uint8_t first_element_type(const void* record_function, const Layout& layout);

/// Returns the address of the first c10d::ProcessGroup among the inputs that `is_group` accepts; null if there is none.
const void* find_process_group(const void* record_function, const Layout& layout, bool (*is_group)(const void*));

}  // namespace profshim::torch
