// When to record: the schedule, a pure function of the step number, equal to torch.profiler.schedule; and the counter
// that turns markers into steps. No clock, no thread, no allocation after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace profshim {

enum class Action : std::uint8_t { kNone, kWarmup, kRecord, kRecordAndSave };
/// N, W, R or S, the letters of torch's test vectors.
char letter(Action action);

struct StepRange {
  std::int64_t first = 0, last = 0;  // inclusive
};

/// Either a cycle (torch's six numbers) or a list of steps.
struct Schedule {
  std::int64_t skip_first = 10, wait = 0, warmup = 1, active = 3, repeat = 1, skip_first_wait = 0;
  std::vector<StepRange> steps;  // not empty = a list: sorted, disjoint; adjacent ranges merged when continuous
  bool continuous = true;        // false: every step of the list has a window of its own

  Action action_of(std::int64_t step) const;
  /// Returns true if no step >= `step` is recorded.
  bool over(std::int64_t step) const;
  /// Returns the first recorded step >= `step`; none when the schedule is over.
  std::optional<std::int64_t> next_recorded(std::int64_t step) const;
};

/// The effect of one step boundary. `close` happens before `open`.
struct Transition {
  bool close = false;
  bool open = false;
  bool armed = false;  // events are recorded after the boundary
};

/// Turns the schedule's actions into windows that open and close.
class WindowAutomaton {
 public:
  explicit WindowAutomaton(const Schedule& schedule) : schedule_(schedule) {}
  /// Returns the transition of the boundary that begins `step`.
  Transition on_step(std::int64_t step);
  /// A limit has closed the window. No window opens until the schedule's next one.
  void closed_by_limit();
  bool open() const { return open_; }

 private:
  const Schedule& schedule_;
  Action last_ = Action::kNone;
  std::int64_t last_step_ = 0;
  std::int64_t window_first_ = 0;  // first step of the window that holds last_step_
  bool open_ = false;
};

struct CounterRules {
  std::int64_t every = 1;
  std::int64_t min_interval_ns = 0;
  bool absolute = false;   // schedule by the number in the name (or first + count) instead of the count
  std::int64_t first = 0;  // number of the first step when the name has none
  bool per_epoch = false;
};
/// Turns markers into schedule steps: every, min_interval, numbering, epochs.
class StepCounter {
 public:
  explicit StepCounter(const CounterRules& rules) : rules_(rules) {}
  struct Step {
    std::int64_t index;     // 0-based over the run
    std::int64_t schedule;  // the argument for Schedule::action_of()
    std::int64_t number;    // the number in the marker's name, else first + index
  };
  /// Counts a marker at `now_ns`. Returns nothing if it makes no boundary (every, min_interval).
  std::optional<Step> on_marker(std::int64_t now_ns, std::optional<std::int64_t> number);
  /// Counts the beginning of an epoch. `number` is the one in its marker's name; without it epochs count up from 0.
  void on_epoch(std::optional<std::int64_t> number = std::nullopt);
  /// Returns the current epoch; 0 before the first marker.
  std::int64_t epoch() const { return epoch_; }

 private:
  CounterRules rules_;
  std::int64_t markers_ = 0, index_ = 0, epoch_start_ = 0;
  std::int64_t last_ns_ = 0, epoch_ = 0;
  bool any_ = false, any_epoch_ = false;
};

}  // namespace profshim
