#include "unseen_calls.h"

#include <algorithm>
#include <mutex>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::session {
namespace {

struct Reported {
  std::mutex mutex;
  std::vector<UnseenCalls> all;
};
Reported& reported() {
  static auto& instance = *new Reported;
  return instance;
}

}  // namespace

void report_unseen_calls(const char* matter, const char* sentence) {
  recorder::problem(matter, sentence);
  const std::lock_guard lock(reported().mutex);
  auto& all = reported().all;
  if (std::none_of(all.begin(), all.end(), [&](const UnseenCalls& one) { return one.matter == matter; })) {
    all.push_back({matter, sentence});
  }
}

std::vector<UnseenCalls> unseen_calls() {
  const std::lock_guard lock(reported().mutex);
  return reported().all;
}

}  // namespace profshim::session
