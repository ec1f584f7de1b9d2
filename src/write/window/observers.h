#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/trace/writer.h"

namespace profshim::write {

/// Several observers of one trace.
class Observers : public TraceObserver {
 public:
  /// Null = none.
  void add(TraceObserver* observer) {
    if (observer != nullptr) all_.push_back(observer);
  }
  bool empty() const { return all_.empty(); }

  void begin(const std::string& path, std::string_view head) noexcept override {
    for (TraceObserver* const one : all_) one->begin(path, head);
  }
  void event(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns) noexcept override {
    for (TraceObserver* const one : all_) one->event(event, begin_ns, duration_ns);
  }

 private:
  std::vector<TraceObserver*> all_;
};

}  // namespace profshim::write
