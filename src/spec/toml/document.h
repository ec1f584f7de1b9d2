// One TOML text as a flat list of keys with values and positions. The only user of the TOML library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/problem.h"
#include "spec/value.h"

namespace profshim::spec {

struct Document {
  std::vector<Given> given;       // known keys only, in the order of the text
  std::vector<Problem> problems;  // syntax, unknown keys and tables
};
/// Reads a TOML text. Problems name the text `name`. Throws only if memory runs out.
Document read_document(std::string_view text, const std::string& name);

}  // namespace profshim::spec
