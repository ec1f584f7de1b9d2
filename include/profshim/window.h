// Decides when to record. StepCounter turns markers into steps, Schedule selects steps, and WindowAutomaton groups them
// into windows: a window becomes one trace. Allocates nothing after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace profshim {

enum class Action : std::uint8_t { kNone, kWarmup, kRecord, kRecordAndSave };
/// Returns N, W, R or S.
char letter(Action action);

struct StepRange {
  std::int64_t first = 0, last = 0;  // inclusive
};

/// The steps to record: a cycle (the six arguments of torch.profiler.schedule) or a list.
struct Schedule {
  std::int64_t skip_first = 10, wait = 0, warmup = 1, active = 3, repeat = 1, skip_first_wait = 0;
  std::vector<StepRange> steps;  // replaces the cycle unless empty; sorted, disjoint; no adjacent ranges if continuous
  bool continuous = true;        // false: one window per listed step

  Action action_of(std::int64_t step) const;
  /// True if neither `step` nor a later one is recorded.
  bool is_over(std::int64_t step) const;
  /// Returns the first recorded step >= `step`.
  std::optional<std::int64_t> next_recorded(std::int64_t step) const;
  /// Returns the first step of the window that records `step`, which must be recorded.
  std::int64_t first_of_window(std::int64_t step) const;
};

/// `close` happens before `open`.
struct Transition {
  bool close = false;
  bool open = false;
  bool armed = false;  // events are recorded after the boundary
};

class WindowAutomaton {
 public:
  explicit WindowAutomaton(const Schedule& schedule) : schedule_(schedule) {}
  /// Call at the boundary that begins `step`.
  Transition on_step(std::int64_t step);
  /// Call when a limit or cudaProfilerStop has closed the window. The next window of the schedule opens as usual.
  void closed_by_limit();
  bool open() const { return open_; }

 private:
  const Schedule& schedule_;
  Action last_ = Action::kNone;
  std::int64_t last_step_ = 0;
  std::int64_t window_first_ = 0;
  bool open_ = false;
};

struct CounterRules {
  std::int64_t every = 1;
  std::int64_t min_interval_ns = 0;
  bool absolute = false;   // the schedule uses Step::number
  std::int64_t first = 0;  // number of the first step if markers have no numbers
  bool per_epoch = false;  // each epoch restarts the schedule
  bool at_end = false;     // a marker ends a step: step 0 begins before the first marker
};
class StepCounter {
 public:
  explicit StepCounter(const CounterRules& rules) : rules_(rules) {}
  struct Step {
    std::int64_t index;     // 0, 1, ... over the run
    std::int64_t schedule;  // argument of Schedule::action_of()
    std::int64_t number;    // from the marker's name, else first + index
  };
  /// Counts markers that were not seen. Call before the other functions. `shifts`: the schedule begins behind them.
  void skip(std::int64_t markers, bool shifts);
  /// With `at_end`: returns the step before the first marker.
  Step before_markers() const { return step_at(index_, std::nullopt); }
  /// Returns nothing if `every` or `min_interval_ns` suppresses the marker. With `at_end`, `number` is that of the step
  /// that ends.
  std::optional<Step> on_marker(std::int64_t now_ns, std::optional<std::int64_t> number);
  /// `number`: from the marker's name. Without it, epochs count from 0.
  void on_epoch(std::optional<std::int64_t> number = std::nullopt);
  std::int64_t epoch() const { return epoch_; }

 private:
  Step step_at(std::int64_t index, std::optional<std::int64_t> number) const;

  CounterRules rules_;
  std::int64_t markers_ = 0;
  std::int64_t index_ = 0;  // of the next step; with `at_end`, of the present one
  std::int64_t epoch_start_ = 0;
  std::int64_t last_ns_ = 0, epoch_ = 0;
  bool any_ = false, any_epoch_ = false;
};

}  // namespace profshim
