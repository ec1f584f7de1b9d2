#pragma once

#include "abi.h"

namespace profshim::torch {

/// If PyTorch is loaded, observes its ranges always. Observes its operators while recording and, before activation,
/// until an operator has shown whether the process is a rank. Any thread.
void attach_if_loaded();
bool is_imported();

Callback operator_observer();
/// Nanoseconds per operator without inputs and stack; negative if unknown. Not for a job's thread.
double operator_cost();

void on_activate();

}  // namespace profshim::torch
