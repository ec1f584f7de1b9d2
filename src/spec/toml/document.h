#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/problem.h"
#include "spec/value.h"

namespace profshim::spec {

struct Document {
  std::vector<Given> given;
  std::vector<Problem> problems;
};
/// Throws only if memory runs out.
Document read_document(std::string_view text, const std::string& name);

}  // namespace profshim::spec
