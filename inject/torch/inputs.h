// Reads operator inputs in place. Keeps no tensor and calls no function of PyTorch.
#pragma once

#include "layout.h"
#include "profshim/event.h"

namespace profshim::torch {

/// Call in an observer's start function. Inconsistent memory is reported as a problem and disables this function.
void describe_inputs(const void* record_function, const Layout& layout, TorchArgs& args);

/// Returns c10::ScalarType + 1 of the first tensor; 0 = none.
std::uint8_t first_element_type(const void* record_function, const Layout& layout);

const void* find_process_group(const void* record_function, const Layout& layout, bool (*is_group)(const void*));

}  // namespace profshim::torch
