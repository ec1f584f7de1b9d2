#pragma once

#include <vector>

#include "spec/spec_keys.h"

namespace profshim::spec {

/// The tables on written traces.
std::vector<KeyRow> output_keys();
std::vector<KeyRow> summary_keys();
std::vector<KeyRow> clock_keys();
std::vector<KeyRow> finish_keys();
std::vector<KeyRow> check_keys();

}  // namespace profshim::spec
