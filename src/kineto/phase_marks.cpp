#include "phase_marks.h"

#include <algorithm>
#include <tuple>

#include "profshim/base/glob.h"
#include "profshim/trace/schema.h"
#include "slice_order.h"

namespace profshim::kineto {

bool runs_only_backward(const std::vector<const Event*>& events) {
  std::vector<const Event*> of_torch;
  for (const Event* event : events) {
    if (hook_layer(event->hook) == Layer::kTorch && event->hook != HookId::kTorchMemory) of_torch.push_back(event);
  }
  std::sort(of_torch.begin(), of_torch.end(), [](const Event* a, const Event* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  Ticks until = 0;  // end of the backward functions so far
  for (const Event* event : of_torch) {
    if (event->hook == HookId::kTorchBackward) {
      until = std::max(until, event->end);
    } else if (event->begin >= until) {
      return false;
    }
  }
  return until != 0;
}

namespace {

std::int64_t beginning_thread(std::int64_t tid, const Event& range) {
  const std::int64_t began_on = (range.flags & kStartEnd) != 0 ? start_tid(range) : 0;
  return began_on != 0 ? began_on : tid;
}

}  // namespace

PhaseMarks::Range PhaseMarks::range_of(std::int64_t tid, const Event& range) {
  const bool is_ours = range.hook == HookId::kPhaseRange;
  return {.tid = beginning_thread(tid, range),
          .begin = range.begin,
          .end = range.end,
          .name = range.name,
          .source = hook_layer(range.hook) == Layer::kTorch ? PhaseSource::kTorch : PhaseSource::kNvtx,
          .phases = is_ours ? range.phase.phases : 0,
          .unfinished = (range.flags & kUnfinished) != 0,
          .resumed = is_ours && range.phase.resumed != 0,
          .is_life = is_ours && range.phase.is_life != 0};
}

void PhaseMarks::add(std::int64_t tid, const Event& range) { ranges_.push_back(range_of(tid, range)); }

void PhaseMarks::add_counter(std::int64_t tid, const Event& counter) {
  const PhaseCounterArgs& args = counter.phase_counter;
  if (args.counter >= kPerfCounters) return;  // a damaged spool
  PerfReading& counted = counted_[{tid, counter.end, args.phases}];
  counted.values[args.counter] = args.value;
  counted.known |= std::uint64_t{1} << args.counter;
  counted.enabled_ns = args.enabled_ns;
  counted.ran_ns = args.ran_ns;
}

const PerfReading* PhaseMarks::counted_in(const PhaseOccurrence& one) const {
  if (one.began_before || one.ends_later || one.unclosed) return nullptr;
  const std::uint32_t bit = definitions_.phases()[one.phase].id - 1;
  if (bit >= kMostPhases) return nullptr;
  for (auto at = counted_.lower_bound({one.tid, one.end, 0}); at != counted_.end(); ++at) {
    const auto& [tid, end, phases] = at->first;
    if (tid != one.tid || end != one.end) break;
    if ((phases >> bit & 1) != 0) return &at->second;
  }
  return nullptr;
}

void PhaseMarks::add_open(std::int64_t tid, const Event& range) {
  Range open = range_of(tid, range);
  open.end = 0;
  open.unfinished = false;
  ranges_.push_back(open);
}

void PhaseMarks::drop_ended_copies() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tuple(a.tid, a.begin, a.name, b.end) < std::tuple(b.tid, b.begin, b.name, a.end);
  });
  const auto is_same = [](const Range& a, const Range& b) {
    return a.tid == b.tid && a.begin == b.begin && a.name == b.name && (a.end == 0 || b.end == 0);
  };
  ranges_.erase(std::unique(ranges_.begin(), ranges_.end(), is_same), ranges_.end());
}

const std::vector<std::size_t>& PhaseMarks::phases_named(StringId name, PhaseSource source) {
  const auto [at, is_new] = phases_of_name_.try_emplace(std::uint64_t{name} << 3 | static_cast<std::uint64_t>(source));
  if (!is_new) return at->second;
  const std::vector<Phase>& phases = definitions_.phases();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].source == source && glob_match(phases[i].pattern, view_.string(name))) at->second.push_back(i);
  }
  return at->second;
}

std::vector<std::size_t> PhaseMarks::phases_of(const Range& range) {
  if (range.phases == 0) return phases_named(range.name, range.source);
  std::vector<std::size_t> found;
  const std::vector<Phase>& phases = definitions_.phases();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::uint32_t bit = phases[i].id - 1;
    if (bit < kMostPhases && (range.phases >> bit & 1) != 0) found.push_back(i);
  }
  return found;
}

void PhaseMarks::finish(Ticks begin, Ticks end, bool at_exit, double ticks_per_ns) {
  drop_ended_copies();
  for (const Range& range : ranges_) {
    for (const std::size_t phase : phases_of(range)) {
      const auto max_ns = static_cast<double>(definitions_.phases()[phase].max_ns);
      PhaseOccurrence found = whole(range, end, at_exit, static_cast<Ticks>(max_ns * ticks_per_ns));
      found.phase = phase;
      const bool is_possible = found.begin <= found.end;  // false in a damaged spool only
      if (!is_possible || found.end <= begin || found.begin >= end) continue;
      found = cut_to(found, begin, end);
      found.counted = counted_in(found);
      occurrences_.push_back(found);
    }
  }
  std::stable_sort(occurrences_.begin(), occurrences_.end(), [](const PhaseOccurrence& a, const PhaseOccurrence& b) {
    return is_before({a.begin, a.end}, {b.begin, b.end});
  });
  drop_nested();
  std::map<std::int64_t, std::vector<const PhaseOccurrence*>> by_thread;
  std::vector<const PhaseOccurrence*> all;
  for (const PhaseOccurrence& one : occurrences_) {
    by_thread[one.tid].push_back(&one);
    all.push_back(&one);
  }
  for (const auto& [tid, of_thread] : by_thread) segments_[tid] = segments_of(of_thread);
  if (all.empty() || backward_threads_.empty()) return;
  const std::vector<Segment> of_any_thread = segments_of(all);
  for (const std::int64_t tid : backward_threads_) segments_.try_emplace(tid, of_any_thread);
}

/// A range inside a range of the same phase on the same thread is no occurrence of its own, such as a function that
/// calls itself. Call when sorted.
void PhaseMarks::drop_nested() {
  std::map<std::pair<std::size_t, std::int64_t>, Ticks> until;
  std::erase_if(occurrences_, [&until](const PhaseOccurrence& one) {
    Ticks& end = until[{one.phase, one.tid}];
    if (one.end <= end) return true;
    end = one.end;
    return false;
  });
}

/// `longest` 0 = no limit.
PhaseOccurrence PhaseMarks::whole(const Range& range, Ticks window_end, bool at_exit, Ticks longest) {
  PhaseOccurrence found;
  found.tid = range.tid;
  found.range = range.name;
  found.begin = range.begin;
  found.end = range.end;
  found.unclosed = range.unfinished;
  found.resumed = range.resumed;
  if (range.end == 0) {
    found.end = window_end;
    found.unclosed = at_exit && !range.is_life;
    found.ends_later = !at_exit;
  }
  if (longest != 0 && found.end > found.begin + longest) {
    found.end = found.begin + longest;
    found.unclosed = true;
    found.ends_later = false;
  }
  return found;
}

PhaseOccurrence PhaseMarks::cut_to(PhaseOccurrence found, Ticks begin, Ticks end) {
  found.began_before = found.begin < begin;
  found.ends_later = found.ends_later || found.end > end;
  if (found.ends_later) found.unclosed = false;
  found.begin = std::max(found.begin, begin);
  found.end = std::min(found.end, end);
  return found;
}

/// `occurrences`: sorted by begin, outer before inner. While several threads are in a phase, there is none.
std::vector<PhaseMarks::Segment> PhaseMarks::segments_of(const std::vector<const PhaseOccurrence*>& occurrences) {
  std::vector<Ticks> moments;
  for (const PhaseOccurrence* one : occurrences) moments.insert(moments.end(), {one->begin, one->end});
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  std::vector<Segment> segments;
  std::vector<const PhaseOccurrence*> open;
  std::size_t next = 0;
  for (const Ticks moment : moments) {
    std::erase_if(open, [moment](const PhaseOccurrence* one) { return one->end <= moment; });
    for (; next < occurrences.size() && occurrences[next]->begin == moment; ++next) open.push_back(occurrences[next]);
    const bool is_one_thread = std::all_of(
        open.begin(), open.end(), [&open](const PhaseOccurrence* one) { return one->tid == open.front()->tid; });
    std::vector<std::size_t> phases;
    for (const PhaseOccurrence* one : open) {
      if (is_one_thread && std::find(phases.begin(), phases.end(), one->phase) == phases.end())
        phases.push_back(one->phase);
    }
    segments.push_back({moment, args_of(phases)});
  }
  return segments;
}

std::span<const Arg> PhaseMarks::args_of(const std::vector<std::size_t>& phases) {
  if (phases.empty()) return {};
  std::vector<Arg>& args = args_[phases];
  if (!args.empty()) return args;
  args.push_back({schema::arg::kPhase, definitions_.phases()[phases.back()].name});
  if (phases.size() == 1) return args;
  std::string& outer = texts_.emplace_back();
  for (std::size_t i = 0; i + 1 < phases.size(); ++i) {
    outer += std::string(i == 0 ? "" : schema::kPhaseSeparator) += (definitions_.phases()[phases[i]].name);
  }
  args.push_back({schema::arg::kOuterPhases, std::string_view{outer}});
  return args;
}

std::span<const Arg> PhaseMarks::args_at(std::int64_t tid, Ticks at) const {
  if (segments_.empty()) return {};
  const auto of_thread = segments_.find(tid);
  if (of_thread == segments_.end()) return {};
  const std::vector<Segment>& segments = of_thread->second;
  const auto next = std::upper_bound(segments.begin(), segments.end(), at,
                                     [](Ticks t, const Segment& segment) { return t < segment.from; });
  return next == segments.begin() ? std::span<const Arg>{} : std::prev(next)->args;
}

}  // namespace profshim::kineto
