#include "track_plan.h"

#include <algorithm>
#include <tuple>

#include "profshim/base/key_hash.h"
#include "profshim/trace/schema.h"

namespace profshim::convert_detail {
namespace {

using Arg = ReadEvent::ReadArg;

constexpr std::int64_t kMostNs = TraceMetadata::kMaxNs;
// Perfetto drops slices nested deeper than 512.
constexpr std::size_t kMostDepth = 500;
constexpr std::uint32_t kNoSlice = ~std::uint32_t{0};

std::uint64_t pair_key(const ReadEvent& event) {
  const std::uint64_t key = mixed(mixed(mixed(kKeyStart, event.pid), event.pid_text), event.category);
  return mixed(key, event.id);
}

const Arg* argument(const ReadEvent& event, std::string_view key) {
  for (const Arg& arg : event.args) {
    if (arg.key == key) return &arg;
  }
  return nullptr;
}

}  // namespace

void AsyncPairs::begin(const ReadEvent& event, std::uint32_t slice) { open_[pair_key(event)].push_back(slice); }

std::optional<std::uint32_t> AsyncPairs::end(const ReadEvent& event) {
  const auto at = open_.find(pair_key(event));
  if (at == open_.end()) return std::nullopt;
  const std::uint32_t slice = at->second.back();
  at->second.pop_back();
  if (at->second.empty()) open_.erase(at);
  return slice;
}

bool Plan::is_shown(const ReadEvent& event) {
  if (event.is(schema::phase::kMetadata)) return false;
  if (!event.has_ts || event.ts_ns < -kMostNs || event.ts_ns > kMostNs || !event.has_pid) return false;
  return !event.is(schema::phase::kSlice) || event.has_duration;
}

void Plan::metadata(std::string_view key, std::string_view json) {
  metadata_.read(key, json);
  members.emplace_back(key, json);
}

Id Plan::id_of(bool is_number, std::int64_t number, std::string_view text) const {
  return is_number ? Id{true, number, {}} : Id{false, 0, std::string(text)};
}

std::uint32_t Plan::process_of(const ReadEvent& event) {
  const Id id = id_of(event.pid_is_number, event.pid, event.pid_text);
  const auto [at, added] = process_numbers_.try_emplace(id, static_cast<std::uint32_t>(processes.size()));
  if (added) processes.push_back({.id = id, .uuid = next_uuid_++});
  return at->second;
}

std::uint32_t Plan::track_of(const ReadEvent& event, Scope scope, std::string_view series) {
  const auto add = [this](const auto& value) {
    track_key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  track_key_.clear();
  add(scope);
  add(event.pid_is_number);
  add(event.pid);
  add(event.pid_text.size());
  track_key_ += event.pid_text;
  if (scope == Scope::kThread) {
    add(event.tid_is_number);
    add(event.tid);
    track_key_ += event.tid_text;
  } else {
    add(event.name.size());
    (track_key_ += event.name) += series;
  }
  if (track_key_ == last_key_) return last_track_;
  const auto [at, added] = track_numbers_.try_emplace(track_key_, static_cast<std::uint32_t>(tracks.size()));
  if (added) {
    PlannedTrack track;
    track.process = process_of(event);
    track.scope = scope;
    if (scope == Scope::kThread) {
      track.thread = id_of(event.tid_is_number, event.tid, event.tid_text);
    } else {
      track.name = event.name;
      if (!series.empty() && series != "value") (track.name += ' ') += series;
    }
    track.subtracks.push_back(next_uuid_++);
    tracks.push_back(std::move(track));
  }
  last_key_ = track_key_;
  return last_track_ = at->second;
}

void Plan::name_things(const ReadEvent& event) {
  if (!event.has_pid) return;
  const Arg* const name = argument(event, schema::arg::kName);
  const Arg* const labels = argument(event, schema::arg::kLabels);
  const Arg* const sort_index = argument(event, schema::arg::kSortIndex);
  if (event.name == schema::metadata::kProcessName && name != nullptr) {
    processes[process_of(event)].name = name->text;
  } else if (event.name == schema::metadata::kProcessLabels && labels != nullptr) {
    processes[process_of(event)].labels = labels->text;
  } else if (event.name == schema::metadata::kProcessSortIndex && sort_index != nullptr &&
             sort_index->kind == Arg::Kind::kInt) {
    processes[process_of(event)].sort_index = sort_index->integer;
  } else if (event.name == schema::metadata::kThreadName && name != nullptr) {
    tracks[track_of(event, Scope::kThread)].name = name->text;
  } else if (event.name == schema::metadata::kThreadSortIndex && sort_index != nullptr &&
             sort_index->kind == Arg::Kind::kInt) {
    tracks[track_of(event, Scope::kThread)].sort_index = sort_index->integer;
  }
}

void Plan::add_slice(std::uint32_t track, std::int64_t begin_ns, std::int64_t end_ns) {
  slices_.push_back({begin_ns, end_ns, track, static_cast<std::uint32_t>(slices_.size())});
}

void Plan::event(const ReadEvent& event) {
  ++events;
  if (event.is(schema::phase::kMetadata)) {
    name_things(event);
    return;
  }
  if (!is_shown(event)) {
    ++left_out;
    return;
  }
  first_ns = std::min(first_ns, event.ts_ns);
  if (event.finer_than_ns) ++rounded;
  if (event.is(schema::phase::kSlice)) {
    if (event.duration_ns < 0) ++negative;
    const std::int64_t duration = std::clamp<std::int64_t>(event.duration_ns, 0, kMostNs);
    add_slice(track_of(event, Scope::kThread), event.ts_ns, event.ts_ns + duration);
  } else if (event.is(schema::phase::kAsyncBegin)) {
    pairs_.begin(event, static_cast<std::uint32_t>(slices_.size()));
    add_slice(track_of(event, Scope::kAsync), event.ts_ns, kNever);
  } else if (event.is(schema::phase::kAsyncEnd)) {
    if (const auto slice = pairs_.end(event)) {
      slices_[*slice].end_ns = std::max(event.ts_ns, slices_[*slice].begin_ns);
    } else {
      ++left_out;
    }
  } else if (event.is(schema::phase::kFlowStart) || event.is(schema::phase::kFlowStep) ||
             event.is(schema::phase::kFlowEnd)) {
    const std::uint64_t key = mixed(mixed(mixed(kKeyStart, event.category), event.name), event.id);
    const bool to_next = event.is(schema::phase::kFlowEnd) && event.binding_point != schema::kBindEnclosing;
    points_.push_back({key, event.ts_ns, track_of(event, Scope::kThread), static_cast<std::uint32_t>(points_.size()),
                       kNoSlice, event.letter(), to_next});
  } else if (event.is(schema::phase::kCounter)) {
    for (const Arg& arg : event.args) {
      if (arg.kind == Arg::Kind::kInt || arg.kind == Arg::Kind::kDouble) track_of(event, Scope::kCounter, arg.key);
    }
  } else if (event.is(schema::phase::kInstant) || event.is(schema::phase::kOldInstant)) {
    if (event.scope == schema::scope::kProcess) {
      process_of(event);
    } else if (event.scope != schema::scope::kGlobal) {
      track_of(event, Scope::kThread);
    }
  } else if (event.is(schema::phase::kAsyncInstant)) {
    process_of(event);
  }
}

void Plan::finish() {
  if (first_ns < 0) shift_ns = std::max<std::int64_t>(-(base_ns() + first_ns), 0);
  has_wall_clock = base_ns() > 0 || (first_ns != INT64_MAX && TraceMetadata::is_time_of_day(first_ns));
  if (first_ns == INT64_MAX) first_ns = 0;
  std::sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.track, a.begin_ns, -a.end_ns, a.number) < std::tuple(b.track, b.begin_ns, -b.end_ns, b.number);
  });
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tuple(a.track, a.at_ns, !a.to_next, a.number) < std::tuple(b.track, b.at_ns, !b.to_next, b.number);
  });
  for (auto* const list : {&subtrack_of_, &written_with_, &order_}) list->resize(slices_.size());
  std::size_t slice = 0, point = 0;
  for (std::uint32_t track = 0; track < tracks.size(); ++track) {
    const std::size_t first = slice, first_point = point;
    while (slice < slices_.size() && slices_[slice].track == track) ++slice;
    while (point < points_.size() && points_[point].track == track) ++point;
    place_track(first, slice, first_point, point);
  }
  join_arrows();
}

void Plan::place_track(std::size_t first, std::size_t last, std::size_t first_point, std::size_t last_point) {
  if (first == last) return;
  PlannedTrack& track = tracks[slices_[first].track];
  std::vector<Subtrack> subtracks(1);
  std::vector<std::size_t> waiting;
  std::size_t point = first_point;
  for (std::size_t at = first; at < last || point < last_point;) {
    const bool slice_first = at < last && (point == last_point || slices_[at].begin_ns < points_[point].at_ns ||
                                           (slices_[at].begin_ns == points_[point].at_ns && !points_[point].to_next));
    if (!slice_first) {
      if (points_[point].to_next) {
        waiting.push_back(point);
      } else {
        points_[point].slice = slice_around(points_[point], subtracks);
      }
      ++point;
      continue;
    }
    place_slice(static_cast<std::uint32_t>(at), track, subtracks);
    for (const std::size_t waits : waiting) points_[waits].slice = slices_[at].number;
    waiting.clear();
    ++at;
  }
}

bool Plan::fits(const Slice& slice, Subtrack& subtrack, Scope scope, const std::vector<Slice>& slices) {
  const std::int64_t inner_end = subtrack.open.empty() ? kNever : slices[subtrack.open.back()].end_ns;
  if (scope == Scope::kAsync) return subtrack.open.empty() && subtrack.ended_ns < slice.begin_ns;
  return slice.end_ns <= inner_end && subtrack.open.size() < kMostDepth;
}

/// Perfetto processes packets of equal time in file order, and an end packet closes the innermost slice. So end packets
/// come first, then begin packets, the longest slice first.
void Plan::place_slice(std::uint32_t at, PlannedTrack& track, std::vector<Subtrack>& subtracks) {
  const Slice& slice = slices_[at];
  std::size_t chosen = 0;
  for (; chosen < subtracks.size(); ++chosen) {
    Subtrack& subtrack = subtracks[chosen];
    while (!subtrack.open.empty() && slices_[subtrack.open.back()].end_ns <= slice.begin_ns) {
      const Slice& ended = slices_[subtrack.open.back()];
      const std::uint32_t with = written_with_[ended.number];
      subtrack.ended_with = ended.end_ns == subtrack.ended_ns ? std::max(subtrack.ended_with, with) : with;
      subtrack.ended_ns = std::max(subtrack.ended_ns, ended.end_ns);
      subtrack.open.pop_back();
    }
    if (fits(slice, subtrack, track.scope, slices_)) break;
  }
  if (chosen == subtracks.size()) subtracks.emplace_back();
  if (chosen == track.subtracks.size()) track.subtracks.push_back(next_uuid_++);
  if (chosen > 0 && track.scope == Scope::kThread) ++on_overflow_tracks;
  Subtrack& subtrack = subtracks[chosen];
  std::uint32_t with = slice.number;
  if (subtrack.ended_ns == slice.begin_ns) with = std::max(with, subtrack.ended_with);
  if (subtrack.begun_ns == slice.begin_ns) with = std::max(with, subtrack.begun_with);
  subtrack.begun_ns = slice.begin_ns;
  subtrack.begun_with = with;
  if (!subtrack.open.empty() && slices_[subtrack.open.back()].end_ns == slice.end_ns && slice.end_ns != kNever) {
    const std::uint32_t outer = slices_[subtrack.open.back()].number;
    const auto [known, is_new] =
        ends_with_others_.try_emplace(outer, static_cast<std::uint32_t>(ending_together_.size()));
    const std::uint32_t group = known->second;
    if (is_new) ending_together_.push_back({outer});
    ending_together_[group].push_back(slice.number);
    ends_with_others_.emplace(slice.number, group);
  }
  subtrack.open.push_back(at);
  subtrack_of_[slice.number] = static_cast<std::uint32_t>(chosen);
  written_with_[slice.number] = with;
  order_[slice.number] = at;
}

std::uint32_t Plan::slice_around(const Point& point, const std::vector<Subtrack>& subtracks) const {
  std::uint32_t around = kNoSlice, touching = kNoSlice;
  for (const Subtrack& subtrack : subtracks) {
    for (auto open = subtrack.open.rbegin(); open != subtrack.open.rend(); ++open) {
      const Slice& slice = slices_[*open];
      if (slice.end_ns > point.at_ns || slice.begin_ns == point.at_ns) {
        if (around == kNoSlice || *open > around) around = *open;
        break;
      }
      if (slice.end_ns == point.at_ns && (touching == kNoSlice || *open > touching)) touching = *open;
    }
  }
  const std::uint32_t found = around != kNoSlice ? around : touching;
  return found == kNoSlice ? kNoSlice : slices_[found].number;
}

void Plan::join_arrows() {
  const auto rank = [](char phase) {
    return phase == schema::phase::kFlowStart ? 0 : phase == schema::phase::kFlowStep ? 1 : 2;
  };
  std::sort(points_.begin(), points_.end(), [&](const Point& a, const Point& b) {
    return std::tuple(a.key, a.at_ns, rank(a.phase), a.number) < std::tuple(b.key, b.at_ns, rank(b.phase), b.number);
  });
  std::uint32_t from = kNoSlice;
  bool left = false;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    const bool first = i == 0 || points_[i - 1].key != point.key;
    if (first || point.phase == schema::phase::kFlowStart) {
      if (from != kNoSlice && !left) ++unmatched_arrow_ends;
      from = kNoSlice;
      left = false;
    }
    if (point.phase == schema::phase::kFlowStart) {
      from = point.slice;
      if (from == kNoSlice) ++unmatched_arrow_ends;
      continue;
    }
    if (from == kNoSlice || point.slice == kNoSlice) {
      ++unmatched_arrow_ends;
      continue;
    }
    add_arrow(from, point.slice);
    left = true;
    if (point.phase == schema::phase::kFlowStep) from = point.slice;
  }
  if (from != kNoSlice && !left) ++unmatched_arrow_ends;
  std::vector<Point>().swap(points_);
  std::sort(arrows.begin(), arrows.end(), [](const ArrowEnd& a, const ArrowEnd& b) {
    return std::tuple(a.slice, a.arrow) < std::tuple(b.slice, b.arrow);
  });
}

bool Plan::is_written_before(std::uint32_t a, std::uint32_t b) const {
  return std::pair(written_with_[a], order_[a]) < std::pair(written_with_[b], order_[b]);
}

/// Returns the slice whose end packet closes `slice`: if slices end together, the first packet closes the innermost.
std::uint32_t Plan::slice_with_end_packet_of(std::uint32_t slice) const {
  const auto known = ends_with_others_.find(slice);
  if (known == ends_with_others_.end()) return slice;
  const std::vector<std::uint32_t>& group = ending_together_[known->second];
  std::vector<std::uint32_t> written = group;
  std::sort(written.begin(), written.end(), [this](auto a, auto b) { return is_written_before(a, b); });
  const auto depth = std::find(group.begin(), group.end(), slice) - group.begin();
  return written[group.size() - 1 - static_cast<std::size_t>(depth)];
}

/// Perfetto drops an arrow whose end comes before its start in packet order.
void Plan::add_arrow(std::uint32_t from, std::uint32_t to) {
  const Slice &a = slices_[order_[from]], &b = slices_[order_[to]];
  const auto is_behind = [&](std::int64_t time, std::uint32_t bearer) {
    return time > a.begin_ns || (time == a.begin_ns && (from == bearer || is_written_before(from, bearer)));
  };
  const bool at_begin = from != to && is_behind(b.begin_ns, to);
  const std::uint32_t bearer = at_begin ? to : slice_with_end_packet_of(to);
  if (!at_begin && (b.end_ns == kNever || !is_behind(b.end_ns, bearer))) {
    ++unmatched_arrow_ends;
    return;
  }
  arrows.push_back({from, next_arrow_, false, false});
  arrows.push_back({bearer, next_arrow_++, true, !at_begin});
}

Plan::Placed Plan::placed(std::uint32_t slice) const {
  const Slice& at = slices_[order_[slice]];
  return {tracks[at.track].subtracks[subtrack_of_[slice]], at.end_ns == kNever ? kNever : start_ns() + at.end_ns,
          written_with_[slice], order_[slice]};
}

std::vector<ArrowEnd>::const_iterator Plan::arrows_of(std::uint32_t slice) const {
  return std::lower_bound(arrows.begin(), arrows.end(), slice,
                          [](const ArrowEnd& end, std::uint32_t wanted) { return end.slice < wanted; });
}

}  // namespace profshim::convert_detail
