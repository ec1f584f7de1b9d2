// When to record: the schedule, pure functions of the step number, equal to torch.profiler.schedule; and the counter
// that turns markers into steps. No clock, no thread, no allocation after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace profshim {

enum class Action : std::uint8_t { kNone, kWarmup, kRecord, kRecordAndSave };
/// N, W, R, S: as in torch's vectors.
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
  /// No step >= `step` is recorded any more.
  bool over(std::int64_t step) const;
  /// The first recorded step >= `step`; none when over.
  std::optional<std::int64_t> next_recorded(std::int64_t step) const;
};

/// What happens at a boundary. `close` comes before `open`.
struct Transition {
  bool close = false;
  bool open = false;
  bool armed = false;  // after it
};

/// The automaton of windows over the actions: which transition the boundary that begins `step` makes.
/// Also driven by limits: closed_by_limit() closes now and stays out until the schedule's next window (R27).
class WindowAutomaton {
 public:
  explicit WindowAutomaton(const Schedule& schedule) : schedule_(schedule) {}
  Transition on_step(std::int64_t step);
  void closed_by_limit();
  bool open() const { return open_; }

 private:
  const Schedule& schedule_;
  Action last_ = Action::kNone;
  std::int64_t last_step_ = 0;
  std::int64_t window_first_ = 0;  // first step of the window that last_step_ lies in
  bool open_ = false;
};

/// Turns markers into schedule steps: every, min_interval, numbering, epochs.
struct CounterRules {
  std::int64_t every = 1;
  std::int64_t min_interval_ns = 0;
  bool absolute = false;   // schedule by the number in the name (or first + count) instead of the count
  std::int64_t first = 0;  // number of the first step when the name has none
  bool per_epoch = false;
};
class StepCounter {
 public:
  explicit StepCounter(const CounterRules& rules) : rules_(rules) {}
  struct Step {
    std::int64_t index;     // 0-based over the run
    std::int64_t schedule;  // what action_of() is asked
    std::int64_t number;    // the true number: from the name, else first + index
  };
  /// A marker at `now_ns`; nothing when it makes no boundary (every, min_interval).
  std::optional<Step> on_marker(std::int64_t now_ns, std::optional<std::int64_t> number);
  /// An epoch begins. `number` is what its marker's name says; without one epochs count up from 0.
  void on_epoch(std::optional<std::int64_t> number = std::nullopt);
  /// The epoch that runs; 0 before the first marker.
  std::int64_t epoch() const { return epoch_; }

 private:
  CounterRules rules_;
  std::int64_t markers_ = 0, index_ = 0, epoch_start_ = 0;
  std::int64_t last_ns_ = 0, epoch_ = 0;
  bool any_ = false, any_epoch_ = false;
};

}  // namespace profshim
