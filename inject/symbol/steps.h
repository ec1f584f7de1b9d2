// steps.source = "symbol": every call of a named function is a step boundary, whoever makes it. The function's entry is
// replaced by a jump to a trampoline, which tells the session and goes on with the moved instructions. Nothing is
// undone: a trampoline stays until the process ends, and in a forked child it does nothing.
//
// Every entry of the function counts, also a nested one: where a call ends cannot be seen without touching its return
// address, and that would break unwinding. A library that is loaded later is patched by the next rescan(): calls that
// it makes before are not seen.
#pragma once

#include <cstddef>

namespace profshim::symbol_steps {

/// Patches every function that `pattern` matches in what is loaded now, and remembers the pattern. Called once, at
/// activation, on the job's thread; says in the log and in the trace what was hooked and what was refused.
void install(const char* pattern);

/// The same for libraries loaded since. Collector thread, every few milliseconds; cheap while nothing was loaded.
void rescan();

struct Report {
  std::size_t hooked = 0;
  std::size_t refused = 0;
};
Report report();

}  // namespace profshim::symbol_steps
