#pragma once

namespace profshim::inject {

/// True at the end of a process that computed, so that its user expects a trace: a Python program with a numeric
/// library, or a second of CPU time. False in workers of the same program, and in tools that a job starts. `alone`: it
/// had no children. `is_first`: no ancestor had the library.
bool has_computed(bool alone, bool is_first);

}  // namespace profshim::inject
