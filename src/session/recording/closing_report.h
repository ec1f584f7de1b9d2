#pragma once

#include "recording.h"

namespace profshim::session {

/// Logs the last lines of the job. Call after the writer has ended, before the claim on the rank is released.
void log_outcome(const Recording& recording);

}  // namespace profshim::session
