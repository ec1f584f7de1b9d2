// Records PyTorch's operators and ranges, by observers that PyTorch calls at the start and end of each. There is one
// observer for each scope, so that each call's scope is known.
#pragma once

#include "abi.h"

namespace profshim::torch {

/// If PyTorch is loaded, finds its functions and observes its ranges; does nothing after that. Operators are observed
/// only while they are recorded, and in a process that is not active yet until one of them has shown whether it is a
/// rank. Any thread.
void attach_if_loaded();
/// Returns true after attach_if_loaded() has found PyTorch.
bool is_imported();

/// Our observer of operators, for the comparison in the cost measurement.
Callback operator_observer();
/// Measures how many nanoseconds the recording of an operator, without inputs and stack, costs its thread. Call it on a
/// thread that is not the job's. Negative if the cost cannot be measured.
double operator_cost();

/// The session is active. From now on, operators are observed while recording is on.
void on_activate();

}  // namespace profshim::torch
