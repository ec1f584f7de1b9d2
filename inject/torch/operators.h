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

// c10::memoryProfilingEnabled() stays false: otherwise the CPU's allocator would warn on stderr about each unknown
// block.

/// Call during the import of PyTorch: later, the hooks run under an allocator's lock.
void find_memory_functions();

void start_memory();

}  // namespace profshim::torch
