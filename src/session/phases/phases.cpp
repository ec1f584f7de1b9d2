#include "phases.h"

#include <algorithm>

#include "profshim/base/glob.h"
#include "profshim/base/threads/signal_guard.h"
#include "profshim/recorder_control.h"

namespace profshim::session {

void Phases::define() {
  const Spec& spec = parts_.plan.spec;
  rules_ = phase_rules(spec, parts_.plan.rank);
  for (const PhaseRule& rule : rules_) {
    if (rule.api == PhaseSource::kNvtx || rule.api == PhaseSource::kTorch) allow_marker_prefix(rule.prefix);
  }
  kernel_runs_ = std::make_unique<KernelRuns>(rules_);
  if (!rules_.empty() && !spec.counters.perf.empty()) {
    counters_ = std::make_unique<PhaseCounters>(parts_.plan, parts_.steps);
  }
  const std::int64_t python = spec.python_calls ? std::int64_t{spool::kPythonCalls} : 0;
  recorder::define(spool::DefinitionKind::kDetail, 0, 0, 0, {bits_of(spec) | python});
  for (std::size_t i = 0; i < spec.phases.size(); ++i) {
    const PhaseSpec& phase = spec.phases[i];
    if (!is_selected(spec, phase, parts_.plan.rank)) continue;
    recorder::define(
        spool::DefinitionKind::kPhase, static_cast<std::uint32_t>(i + 1), recorder::intern(phase.name),
        recorder::intern(phase.ranges_of.pattern),
        {static_cast<std::int64_t>(phase.ranges_of.source), static_cast<std::int64_t>(phase.max_seconds * 1e9)});
    if (!phase.has_windows) continue;
    recorder::define(spool::DefinitionKind::kDetail, static_cast<std::uint32_t>(i + 1), 0, 0,
                     {bits_of(detail_of(spec, phase)) | python});
    windows_.resize(i + 1);
    windows_[i] = std::make_unique<PhaseWindows>(parts_, *this, i);
  }
}

void Phases::prepare_detail() {
  Detail all = parts_.plan.spec;
  for (const auto& phase : windows_) {
    if (phase != nullptr) add(all, phase->detail());
  }
  detail_.prepare(all);
  update_detail();
}

void Phases::update_detail() {
  const Uninterrupted no_handler_of_the_job;
  const std::lock_guard lock(detail_mutex_);
  Detail now = parts_.plan.spec;
  for (const auto& phase : windows_) {
    if (phase != nullptr && phase->wants()) add(now, phase->detail());
  }
  detail_.choose(now);
}

std::uint64_t Phases::phases_of(std::string_view text, PhaseSource api) const {
  std::uint64_t phases = 0;
  for (const PhaseRule& rule : rules_) {
    if (rule.api == api && text.starts_with(rule.prefix) && glob_match(rule.pattern, text)) phases |= rule.bit;
  }
  return phases;
}

void Phases::note_stall(Ticks entered) {
  parts_.queue.stall_ticks.fetch_add(ticks() - entered, std::memory_order_relaxed);
}

void Phases::begin(std::uint64_t phases, Ticks at) {
  if (!has_work()) return;
  const Ticks entered = ticks();
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i] == nullptr) continue;
    if ((phases >> i & 1) != 0) windows_[i]->range_begins(at);
    if ((phases >> (kMostPhases + i) & 1) != 0) windows_[i]->tick_begins(at);
  }
  resume(phases, at);
  note_stall(entered);
}

void Phases::end(std::uint64_t phases, Ticks at) {
  if (!has_work()) return;
  const Ticks entered = ticks();
  pause(phases, at);
  for (std::size_t i = windows_.size(); i-- > 0;) {
    if (windows_[i] != nullptr && (phases >> i & 1) != 0) windows_[i]->range_ends(at);
  }
  note_stall(entered);
}

void Phases::pause(std::uint64_t phases, Ticks at) {
  if (counters_ != nullptr) counters_->end(phases, at);
}

void Phases::resume(std::uint64_t phases, Ticks at) {
  if (counters_ != nullptr) counters_->begin(phases, at);
}

void Phases::kernel_launched(const char* name, Ticks at) { kernel_runs_->launched(name, at); }

void Phases::thread_ends(spool::Thread& thread, Ticks at) { counters_->thread_ends(thread, at); }

bool Phases::any_open() const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [](const auto& phase) { return phase != nullptr && phase->is_open(); });
}

bool Phases::are_over() const {
  return std::all_of(windows_.begin(), windows_.end(),
                     [](const auto& phase) { return phase == nullptr || phase->is_over(); });
}

void Phases::check() {
  for (const auto& phase : windows_) {
    if (phase != nullptr) phase->check();
  }
}

void Phases::close_by_limit(Ticks end, StringId limit) {
  for (const auto& phase : windows_) {
    if (phase != nullptr && phase->is_open()) phase->close_by_limit(end, limit);
  }
}

void Phases::close_at_exit(Ticks now) {
  for (const auto& phase : windows_) {
    if (phase != nullptr) phase->close_at_exit(now);
  }
}

std::vector<std::string> Phases::why_no_window() const {
  std::vector<std::string> sentences;
  for (const auto& phase : windows_) {
    std::string why = phase != nullptr ? phase->why_no_window() : "";
    if (!why.empty()) sentences.push_back(std::move(why));
  }
  return sentences;
}

}  // namespace profshim::session
