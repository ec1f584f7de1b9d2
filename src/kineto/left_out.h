// Leaves events out of a trace (capture.include, exclude, min_us).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profshim/trace/writer.h"
#include "profshim/window_trace.h"

namespace profshim::kineto {

/// A trace is written twice: the first time only counts, because the head of the trace tells the counts, and a flow
/// goes if either of its slices does. Steps, phases and counters always stay. Calls of MPI and NCCL stay unless
/// `exclude` names them: `profshim merge` aligns clocks by them.
class LeftOut : public EventFilter {
 public:
  explicit LeftOut(const EventRules& rules) : rules_(rules) {}
  bool keeps(const TraceEvent& event) override;
  /// Call after all events of the first pass.
  void begin_second_pass() { is_first_pass_ = false; }

  struct Sum {
    std::uint64_t events = 0;
    std::int64_t ns = 0;  // sum of the durations
  };
  /// By category, as in the trace.
  const std::map<std::string_view, Sum>& sums() const { return sums_; }

 private:
  enum class Verdict : std::uint8_t { kAlways, kIfLong, kNever };
  Verdict verdict_on(const TraceEvent& event);
  Verdict judge(std::string_view category, std::string_view name) const;
  bool keeps_slice(const TraceEvent& event);
  bool keeps_flow(const TraceEvent& event);
  void count(const TraceEvent& event);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Names = std::unordered_map<std::string, Verdict, Hash, std::equal_to<>>;

  const EventRules rules_;
  bool is_first_pass_ = true;
  bool left_out_last_ = false;  // the last slice: flows follow theirs
  std::map<Category, Names> verdicts_;
  std::set<std::pair<Category, std::uint64_t>> flows_;  // that go
  std::map<std::string_view, Sum> sums_;
};

}  // namespace profshim::kineto
