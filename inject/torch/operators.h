#pragma once

#include "abi.h"

namespace profshim::torch {

/// If PyTorch is loaded, observes its ranges for good. Observes its operators while events are recorded and, before
/// activate(), until only a range can activate the process (Activation::kRetryAtRange). Any thread.
void attach_if_loaded();
bool is_imported();

Callback operator_observer();
/// Nanoseconds per operator without inputs and stack; negative if unknown. Not for a job's thread.
double operator_cost();

void on_activate();
/// Call in a child of a fork, see inject::leave_parent(). Observes the operators of a child that may be a rank.
void leave_parent();

}  // namespace profshim::torch
