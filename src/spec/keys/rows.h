// Rows of the key table.
#pragma once

#include <vector>

#include "spec/spec_keys.h"

namespace profshim::spec {

KeyRow activities_row();
KeyRow require_any_row();

KeyRow version_row();
KeyRow phases_row();
KeyRow include_files_row();
KeyRow include_combine_row();
KeyRow ranks_row();
KeyRow steps_row();
KeyRow export_row();
KeyRow summary_table_row();
KeyRow window_seconds_row();
KeyRow interval_seconds_row();
KeyRow check_rule_row();

/// The tables on written traces.
std::vector<KeyRow> output_keys();
std::vector<KeyRow> summary_keys();
std::vector<KeyRow> clock_keys();
std::vector<KeyRow> finish_keys();
std::vector<KeyRow> check_keys();

KeyRow perf_row();

}  // namespace profshim::spec
