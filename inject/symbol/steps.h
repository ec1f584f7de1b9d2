// steps.source = "symbol": calls of named functions are step boundaries, reported by trampolines. Patches are never
// undone; in a forked child they do nothing.
//
// Nested calls make steps too: seeing the end of a call would need a replaced return address, which breaks unwinding.
#pragma once

namespace profshim::symbol_steps {

/// Patches the functions and reports those patched and refused in log and trace. Once, at activation, on the job's
/// thread.
void install(const char* pattern);

/// Patches modules loaded since the last scan; their earlier calls are not seen. Collector thread, every few
/// milliseconds; cheap if nothing was loaded.
void rescan();

}  // namespace profshim::symbol_steps
