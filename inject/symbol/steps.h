// steps.source = "symbol": calls of the functions that steps.pattern names are step boundaries. Nested calls make steps
// too: seeing the end of a call would need a replaced return address, which breaks unwinding.
#pragma once

namespace profshim::symbol_steps {

/// Call at activation, on the job's thread.
void install(const char* pattern);

/// Patches modules loaded since the last scan. Cheap if nothing was loaded.
void rescan();

}  // namespace profshim::symbol_steps
