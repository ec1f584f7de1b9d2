// Python 3.12 and later: sys.monitoring (PEP 669) reports each begin and end of a function that makes a phase. Other
// functions cost nothing after their first call.
#pragma once

namespace profshim::python {

/// Call with the GIL. Returns a reason if the calls cannot be seen, else null.
const char* install_monitoring();

}  // namespace profshim::python
