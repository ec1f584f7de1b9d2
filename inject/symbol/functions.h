// Functions of the program and its libraries whose calls make steps (steps.source = "symbol") or phases ([[phase]]
// symbol). Nested calls of a step's function make steps, too.
#pragma once

namespace profshim::symbol {

/// Call after the session is active, on a job thread. Does nothing if the spec names no function.
void on_activate();
/// In a child of a fork: its code has the patches of the parent.
void leave_parent();

}  // namespace profshim::symbol
