#pragma once

#include "recording.h"

namespace profshim::session {

/// Answers the questions of the writer thread about the recording.
class RecordingForWriter : public write::LiveRecording {
 public:
  explicit RecordingForWriter(Recording& recording) : r_(recording) {}

  bool is_armed() const override;
  bool has_settled(Ticks window_end) override;
  void complete_spool() override;
  void complete_stacks() override;
  std::optional<EventCosts> event_costs() override { return r_.costs.known(); }
  std::optional<CpuUse> cpu_use(std::uint64_t window) override { return r_.cpu.take(window, own_threads(r_)); }
  std::uint64_t spare_bytes() override { return r_.place.room->now(0, 0).bytes; }
  void add_problem(const char* matter, const std::string& sentence) override;
  void remove_spool() override;
  bool has_idle_work() const override;
  void do_idle_work() override;

 private:
  /// Hooks cost more while a window of steps is open.
  bool may_measure_costs() const { return is_armed() && r_.steps.windows().current() != nullptr; }
  bool wants_look_for_steps() const { return r_.finder != nullptr && live() != nullptr && r_.finder->wants_look(); }

  Recording& r_;
};

write::WritePlan plan_for_writer(const Plan& plan, const SpoolPlace& place);

}  // namespace profshim::session
