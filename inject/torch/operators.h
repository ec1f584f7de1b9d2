// Records PyTorch's operators and ranges, with one observer per scope.
#pragma once

#include "abi.h"

namespace profshim::torch {

/// Observes PyTorch's ranges, if PyTorch is loaded. Operators are observed only while recording, and before it until
/// one has shown whether the process is a rank. Any thread.
void attach_if_loaded();
bool is_imported();

/// For the cost measurement.
Callback operator_observer();
/// Nanoseconds per operator without inputs and stack; negative if unknown. Not on a job's thread.
double operator_cost();

void on_activate();

}  // namespace profshim::torch
