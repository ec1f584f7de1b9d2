// steps.source = "symbol": calls of named functions are step boundaries. A jump patched into the
// function reports them. The jump stays; in a forked child it does nothing.
//
// Nested calls make steps too: seeing the end of a call would need a replaced return address, which breaks unwinding.
#pragma once

namespace profshim::symbol_steps {

/// Patches the functions and reports those patched and refused in log and trace. Call once, at activation, on the
/// job's thread.
void install(const char* pattern);

/// Patches modules loaded since the last scan; their earlier calls are not seen. The collector thread calls it
/// every few milliseconds; cheap if nothing was loaded.
void rescan();

}  // namespace profshim::symbol_steps
