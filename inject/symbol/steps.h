// steps.source = "symbol": every call of a named function is a step boundary. The entry of the function is replaced by
// a jump to a trampoline, which reports the boundary and continues with the displaced instructions. Patches are never
// undone: a trampoline stays until the process ends, and does nothing in a forked child.
//
// Nested calls count too: the end of a call is visible only by changing its return address, which would break
// unwinding. A library that is loaded later is patched by the next rescan(); its earlier calls are not seen.
#pragma once

namespace profshim::symbol_steps {

/// Patches every function in the loaded modules that `pattern` matches, and keeps the pattern for rescan(). Reports
/// patched and refused functions in the log and in the trace. Call once, at activation, on the job's thread.
void install(const char* pattern);

/// Patches matching functions of modules loaded since the last call. Collector thread, every few milliseconds; cheap
/// while nothing is loaded.
void rescan();

}  // namespace profshim::symbol_steps
