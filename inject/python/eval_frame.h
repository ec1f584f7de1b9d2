// Python 3.10 and 3.11: a frame evaluation function (PEP 523) sees each call of a Python function begin and end.
#pragma once

namespace profshim::python {

/// Call with the GIL. Returns a reason if the calls cannot be seen, else null.
const char* install_eval_frame();

}  // namespace profshim::python
