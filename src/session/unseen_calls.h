#pragma once

#include <string>
#include <vector>

namespace profshim::session {

struct UnseenCalls {
  std::string matter, sentence;
};
/// The sentences that report_unseen_calls() was told.
std::vector<UnseenCalls> unseen_calls();

}  // namespace profshim::session
