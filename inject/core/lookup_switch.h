#pragma once

namespace profshim::inject {

/// True if functions that the job looks up (dlsym() with a handle, cuGetProcAddress()) may be hooks: profshim is asked
/// to record, and PROFSHIM_DLSYM is not 0. Any thread; callable before our constructor.
bool hooks_lookups();

}  // namespace profshim::inject
