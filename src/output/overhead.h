// The time spent recording a window's events, as a share of the window.
#pragma once

#include "profshim/output/publish.h"

namespace profshim::output {

/// Returns -1 if a cost is unknown or the window has no length.
double overhead_percent(const spool::View& view, const spool::Window& window, const kineto::WindowSummary& summary,
                        const EventCosts& costs);

}  // namespace profshim::output
