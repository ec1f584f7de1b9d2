// Python 3.12 and later: sys.monitoring (PEP 669) reports the begin and end of each call. Other tools work beside it.
#pragma once

namespace profshim::python::calls {

/// Call with the GIL and no exception set. Returns a reason if the calls cannot be seen, else null.
const char* prepare_monitoring();
bool switch_monitoring(bool on);

}  // namespace profshim::python::calls
