#pragma once

#include "profshim/write/publish.h"

namespace profshim::write {

/// Returns the share of the window spent recording its events; -1 if a cost or the window's length is unknown.
double overhead_percent(const spool::View& view, const spool::Window& window, const kineto::WindowSummary& summary,
                        const EventCosts& costs);

}  // namespace profshim::write
