// PyTorch's operators and ranges: observers that PyTorch calls at the begin and the end of each. One observer for each
// scope, so that it is known which one a call belongs to.
#pragma once

#include "abi.h"

namespace profshim::torch {

/// PyTorch may be mapped by now (it is being imported, or the session begins; any thread): finds
/// its functions and observes its ranges. While nothing is recorded its operators cost nothing; the first one of a
/// process that is not active yet is a strong event.
void look_for_torch();
bool is_imported();

/// Our observer of operators.
Callback operator_observer();
/// Nanoseconds that recording an operator takes of its thread, measured on the calling one, which is none of the job's,
/// without inputs and stacks; < 0: not known.
double operator_cost();

/// The session is active: from now on operators are observed while recording is on.
void on_activate();

}  // namespace profshim::torch
