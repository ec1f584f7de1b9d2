#pragma once

#include "spec/spec_keys.h"

namespace profshim::spec {

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

}  // namespace profshim::spec
