// Call these functions before the threads of the recording start.
#pragma once

#include <string>

#include "session/plan.h"

namespace profshim::session {

void add_spec_metadata(const Plan& plan);
/// `step_source`: Steps::source_text().
void fill_header(const Plan& plan, const std::string& step_source);

}  // namespace profshim::session
