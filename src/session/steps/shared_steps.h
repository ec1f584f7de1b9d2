// All ranks of a job have the same steps: those that one rank found first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "profshim/loop.h"
#include "session/plan.h"
#include "step_rule.h"

namespace profshim::session {

/// For the file in the run folder. The first line is the confidence.
std::string shared_text(const StepRule& rule);

/// Returns the steps that another rank has found, if this rank makes them, too: it calls the same collective or
/// optimizer. Null = it does not.
std::unique_ptr<const StepRule> shared_rule(const std::string& text, const loop::Sequence& sequence);

/// Small files of the run folder by which the ranks of a job tell each other what they see while they search. Any
/// thread, one at a time.
class SearchOfRanks {
 public:
  /// `base_time_ns`: distinguishes runs in one folder.
  SearchOfRanks(const Plan& plan, std::int64_t base_time_ns) : plan_(plan), base_time_ns_(base_time_ns) { begin(0); }
  /// Call when a search begins. `number`: of searches before it.
  void begin(int number);
  /// Tells what this rank sees before it decides; null = no steps.
  void say(const StepRule* rule);
  /// Returns steps that a rank sees and all make; "" = no rank has seen such steps.
  std::string seen_so_far() const;
  /// True if another rank has told what it sees, or no other rank records.
  bool has_heard_of_others() const;
  /// Waits two seconds, at most, until has_heard_of_others() or a rank has decided. Call when the job ends.
  void await_word() const;
  /// Returns what the first rank has decided. `own`: this rank's decision; "" = none.
  std::string decided(const std::string& own) const;

 private:
  void say_steps(const std::string& text);
  void say_messages();
  std::string said(const std::string& topic) const;

  const Plan& plan_;
  const std::int64_t base_time_ns_;
  std::string decided_, so_far_, messages_;  // topics
  bool says_steps_ = false;
};

/// True if the rank makes a call again and again that all ranks make.
bool recurs_on_all_ranks(const loop::Sequence& sequence);

}  // namespace profshim::session
