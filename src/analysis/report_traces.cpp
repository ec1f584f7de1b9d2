#include "report_traces.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <unordered_map>

#include "profshim/trace.h"
#include "report_tables.h"
#include "report_words.h"
#include "statistics.h"

namespace profshim::analysis_detail {
namespace {

using Arg = ReadEvent::ReadArg;

/// A rank in a merged trace: its processes have the numbers from first_pid on.
struct Member {
  RankClock clock;
  std::int64_t first_pid = 0;
};

/// 3 of "merged.3.rank"; -1 when it is something else.
int member_index(std::string_view path, std::string_view list, std::string_view& key) {
  if (!path.starts_with(list)) return -1;
  int index = -1;
  const auto [end, error] = std::from_chars(path.data() + list.size(), path.data() + path.size(), index);
  if (error != std::errc{} || end == path.data() + path.size() || *end != '.') return -1;
  key = path.substr(static_cast<std::size_t>(end - path.data()) + 1);
  return index;
}

std::vector<Member> members_of(const std::string& facts) {
  std::vector<Member> members;
  json_leaves(facts, [&](std::string_view path, const Arg& value) {
    std::string_view key;
    const int index = member_index(path, "merged.", key);
    // Element by element: an object with a large number for a key is no list.
    if (index < 0 || static_cast<std::size_t>(index) > members.size()) return;
    if (static_cast<std::size_t>(index) == members.size()) members.emplace_back();
    Member& member = members[static_cast<std::size_t>(index)];
    if (key == "rank" && value.integer <= std::numeric_limits<int>::max()) {
      member.clock.rank = static_cast<int>(std::max<std::int64_t>(value.integer, -1));
    }
    if (key == "first_pid") member.first_pid = value.integer;
    if (key == "host") member.clock.host = value.text;
    if (key == "clock") member.clock.clock = value.text;
    if (key == "offset_us") member.clock.offset_us = value.number;
    if (key == "drift_ppm") member.clock.drift_ppm = value.number;
    if (key == "error_us" && value.kind != Arg::Kind::kNull) member.clock.error_us = value.number;
  });
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.first_pid < b.first_pid; });
  return members;
}

/// The texts of one file in another one's numbers, when asked for.
class Renamed {
 public:
  Renamed(const Texts& from, Texts& to) : from_(from), to_(to), known_(from.size(), 0) {}
  TextId operator()(TextId id) {
    if (id != 0 && known_[id] == 0) known_[id] = to_.add(from_[id]);
    return known_[id];
  }

 private:
  const Texts& from_;
  Texts& to_;
  std::vector<TextId> known_;
};

/// What belongs to no rank's processes (a file that somebody has changed) is left out.
std::vector<Timeline> taken_apart(const Timeline& whole, const std::vector<Member>& members) {
  const auto owner_of = [&](std::uint32_t track) {
    const Track& t = whole.tracks[track];
    const auto after = std::upper_bound(members.begin(), members.end(), t.pid,
                                        [](std::int64_t pid, const Member& m) { return pid < m.first_pid; });
    const bool none = t.pid_text != 0 || after == members.begin();
    return none ? members.size() : static_cast<std::size_t>(after - members.begin()) - 1;
  };
  std::vector<std::size_t> owners;
  for (std::uint32_t i = 0; i < whole.tracks.size(); ++i) owners.push_back(owner_of(i));
  std::vector<Timeline> parts(members.size());
  std::vector<Renamed> names;
  names.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    Timeline& part = parts[i];
    part.path = whole.path;
    part.dialect = whole.dialect;
    part.rank = members[i].clock.rank;
    part.world_size = whole.world_size;
    part.backend = whole.backend;
    part.host = members[i].clock.host;
    part.base_time_ns = whole.base_time_ns;
    part.truncated = whole.truncated;
    part.tracks = whole.tracks;
    names.emplace_back(whole.texts, part.texts);
    for (Track& track : part.tracks) {
      track.pid_text = names[i](track.pid_text);
      track.tid_text = names[i](track.tid_text);
    }
  }
  for (const Slice& slice : whole.slices) {
    const std::size_t owner = owners[slice.track];
    if (owner == members.size()) continue;
    Timeline& part = parts[owner];
    Renamed& renamed = names[owner];
    Slice& own = part.slices.emplace_back(slice);
    own.name = renamed(slice.name);
    own.input_dims = renamed(slice.input_dims);
    if (slice.communication == kNone) continue;
    Communication c = whole.communications[slice.communication];
    for (TextId* text : {&c.collective, &c.dtype, &c.group, &c.group_label, &c.ranks}) *text = renamed(*text);
    own.communication = static_cast<std::uint32_t>(part.communications.size());
    part.communications.push_back(c);
  }
  for (const Step& step : whole.steps) {
    if (owners[step.track] < members.size()) parts[owners[step.track]].steps.push_back(step);
  }
  return parts;
}

/// "threads lost" of threads_lost; "device: dropped records" of device.dropped_records.
std::string loss_words(std::string_view path) {
  std::string words;
  for (const char c : path) words += c == '_' ? std::string(" ") : c == '.' ? std::string(": ") : std::string(1, c);
  return words;
}

bool tells_loss(std::string_view path) {
  const auto has = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  return has("dropped") || has("lost") || has("left_out");
}

TraceFacts facts_of(const Timeline& timeline) {
  TraceFacts facts{.path = timeline.path, .host = timeline.host};
  facts.rank = timeline.rank;
  facts.world_size = timeline.world_size;
  facts.ours = timeline.dialect == Dialect::kProfshim;
  facts.complete = timeline.complete;
  facts.cut_off = timeline.truncated;
  facts.dropped = timeline.dropped;
  facts.events = timeline.slices.size();
  for (const Step& step : timeline.steps) facts.steps.insert(step.number);
  if (!timeline.slices.empty()) {
    facts.first_ns = std::numeric_limits<std::int64_t>::max();
    facts.last_ns = std::numeric_limits<std::int64_t>::min();
    for (const Slice& s : timeline.slices) {
      facts.first_ns = std::min(facts.first_ns, s.begin_ns);
      facts.last_ns = std::max(facts.last_ns, s.end_ns());
    }
  }
  std::string marker;
  json_leaves(timeline.facts, [&](std::string_view path, const Arg& value) {
    if (path == "run_name") facts.run_name = value.text;
    if (path == "command") facts.command = value.text;
    if (path == "steps.source") facts.steps_source = value.text;
    if (path == "steps.first_marker") marker = value.text;
    if (path == "window") facts.window = value.integer;
    if (path == "truncated") facts.limited = value.integer != 0;
    if (path == "recovered") facts.recovered = value.integer != 0;
    if (path.starts_with("problems.") && value.kind == Arg::Kind::kString && path.ends_with(".lost")) {
      facts.problems.emplace_back(value.text);
    } else if (value.kind == Arg::Kind::kInt && value.integer > 0 && tells_loss(path) && path != "dropped_events" &&
               path != "dropped.total") {
      facts.losses.emplace_back(loss_words(path), value.integer);
    }
  });
  if (!marker.empty() && !facts.steps_source.empty()) facts.steps_source += " (" + marker + ")";
  return facts;
}

/// Of one rank of one job. What was going on at the end of a window may have ended in the next.
bool are_two_windows(const TraceFacts& a, const TraceFacts& b) {
  if (a.ours && b.ours && a.run_name == b.run_name && a.window != b.window) return true;
  if (!a.steps.empty() && !b.steps.empty()) {
    return std::none_of(a.steps.begin(), a.steps.end(), [&](std::int64_t n) { return b.steps.count(n) != 0; });
  }
  return a.last_ns <= b.first_ns || b.last_ns <= a.first_ns;
}

std::string losses_text(const TraceFacts& facts) {
  std::string text;
  for (const auto& [what, count] : facts.losses) {
    text += (text.empty() ? "" : ", ") + what + " " + std::to_string(count);
  }
  return !text.empty() ? text : facts.ours && !facts.merged ? "none" : "not said";
}

}  // namespace

std::vector<LoadedTrace> load_ranks(const std::string& path, std::vector<RankClock>& clocks,
                                    std::vector<std::string>& warnings, bool& truncated) {
  Timeline timeline = load_timeline(path);
  warnings.insert(warnings.end(), timeline.warnings.begin(), timeline.warnings.end());
  truncated = truncated || timeline.truncated;
  std::vector<LoadedTrace> loaded;
  const std::vector<Member> members = members_of(timeline.facts);
  if (members.empty()) {
    TraceFacts facts = facts_of(timeline);
    loaded.push_back({std::move(timeline), std::move(facts)});
    return loaded;
  }
  const TraceFacts whole = facts_of(timeline);
  for (Timeline& part : taken_apart(timeline, members)) {
    TraceFacts facts = facts_of(part);
    facts.merged = true;
    facts.run_name = whole.run_name;
    facts.problems = whole.problems;
    loaded.push_back({std::move(part), std::move(facts)});
  }
  for (const Member& member : members) clocks.push_back(member.clock);
  return loaded;
}

std::string mixed_jobs(const std::vector<TraceFacts>& traces) {
  std::map<std::string, const TraceFacts*> runs;  // by host: hosts without a number in common name them themselves
  const TraceFacts* sized = nullptr;
  std::map<int, std::vector<const TraceFacts*>> ranks;
  for (const TraceFacts& t : traces) {
    if (!t.run_name.empty()) {
      const TraceFacts& other = *runs.emplace(t.host, &t).first->second;
      if (other.run_name != t.run_name) {
        return other.path + " is of run " + other.run_name + ", " + t.path + " of run " + t.run_name +
               ": a report is of one job";
      }
    }
    if (t.world_size > 0) {
      if (sized == nullptr) sized = &t;
      if (sized->world_size != t.world_size) {
        return sized->path + " is of a job of " + counted(sized->world_size, "rank") + ", " + t.path + " of one of " +
               std::to_string(t.world_size) + ": a report is of one job";
      }
    }
    for (const TraceFacts* other : ranks[t.rank]) {
      if (are_two_windows(*other, t)) continue;
      return other->path + " and " + t.path +
             (t.rank >= 0 ? " are both of rank " + std::to_string(t.rank)
                          : std::string(" both do not say their rank")) +
             ", of the same time or steps: a report is of one job";
    }
    ranks[t.rank].push_back(&t);
  }
  return "";
}

void make_one_step(Timeline& timeline) {
  std::unordered_map<std::uint32_t, double> in_calls;  // by track
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (const Slice& s : timeline.slices) {
    first = std::min(first, s.begin_ns);
    last = std::max(last, s.end_ns());
    if (is_host(s.kind) && !s.asynchronous) in_calls[s.track] += static_cast<double>(s.duration_ns);
  }
  timeline.steps.clear();
  if (first >= last) return;
  const auto most = std::max_element(in_calls.begin(), in_calls.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  timeline.steps.push_back(
      {.begin_ns = first, .duration_ns = difference(last, first), .track = most != in_calls.end() ? most->first : 0});
}

ReportSection losses_section(const std::vector<TraceFacts>& traces) {
  ReportSection section{.key = "losses", .title = "What was recorded, and what was lost"};
  ViewTable table{.key = "traces",
                  .title = "Traces",
                  .columns = {{"rank", "Rank"},
                              {"events", "Events"},
                              {"duration_us", "Duration", Unit::kTime},
                              {"steps", "Steps"},
                              {"dropped", "Dropped"},
                              {"other", "Other losses"},
                              {"window", "Window"},
                              {"file", "File"}}};
  bool others = false, merged = false;
  constexpr std::size_t kMostTraces = 256;
  std::vector<const TraceFacts*> order;
  for (const TraceFacts& t : traces) order.push_back(&t);
  const auto is_whole = [](const TraceFacts* t) {
    return t->complete && !t->limited && !t->cut_off && t->dropped == 0 && t->losses.empty() && t->problems.empty();
  };
  if (order.size() > kMostTraces) std::stable_partition(order.begin(), order.end(), std::not_fn(is_whole));
  for (const TraceFacts* const of : order) {
    const TraceFacts& t = *of;
    Cell dropped;
    if (t.ours && !t.merged) dropped = static_cast<std::int64_t>(t.dropped);
    others = others || !t.ours;
    merged = merged || t.merged;
    std::string window = t.merged     ? "not said"
                         : !t.ours    ? "not said"
                         : t.limited  ? "closed by a limit"
                         : t.complete ? "whole"
                                      : "cut by the end of the job";
    if (t.cut_off) window = "the file ends early";
    if (t.recovered) window += ", recovered";
    table.rows.push_back({rank_cell(t.rank), static_cast<std::int64_t>(t.events),
                          to_us(difference(t.last_ns, t.first_ns)), static_cast<std::int64_t>(t.steps.size()), dropped,
                          losses_text(t), window, t.path});
  }
  keep_rows(table, kMostTraces, "those that are not whole first", section.notes);
  if (others) section.notes.emplace_back("PyTorch's own profiler does not count what it lost: \"-\" is not known.");
  if (merged) {
    section.notes.emplace_back(
        "A merged trace does not say what its ranks lost; a report of the ranks' own traces does.");
  }
  std::map<std::string, std::set<int>> problems;
  for (const TraceFacts& t : traces) {
    for (const std::string& problem : t.problems) problems[problem].insert(t.rank);
  }
  ViewTable told{.key = "problems",
                 .title = "Problems that the traces tell",
                 .columns = {{"ranks", "Ranks"}, {"problem", "Lost"}}};
  for (const auto& [problem, ranks] : problems) told.rows.push_back({rank_list(ranks), problem});
  section.tables.push_back(std::move(table));
  if (!told.rows.empty()) section.tables.push_back(std::move(told));
  return section;
}

void add_losses(const std::vector<TraceFacts>& traces, std::vector<ReportFinding>& verdict) {
  using Level = ReportFinding::Level;
  std::set<int> here, lossy, cut, limited, early;
  std::set<std::string> problems;
  std::uint64_t dropped = 0;
  int world_size = -1;
  bool known = true;
  for (const TraceFacts& t : traces) {
    here.insert(t.rank);
    world_size = std::max(world_size, t.world_size);
    known = known && t.ours && !t.merged;
    dropped += t.dropped;
    if (t.dropped > 0 || !t.losses.empty()) lossy.insert(t.rank);
    if (!t.complete) cut.insert(t.rank);
    if (t.limited) limited.insert(t.rank);
    if (t.cut_off) early.insert(t.rank);
    problems.insert(t.problems.begin(), t.problems.end());
  }
  if (world_size > static_cast<int>(here.size()) && here.count(-1) == 0) {
    verdict.push_back({Level::kNotice, "Traces of " + std::to_string(here.size()) + " of " +
                                           counted(world_size, "rank") + ": what the others did is not here."});
  }
  if (!lossy.empty()) {
    verdict.push_back({Level::kBad, "Events were lost on " + ranks_words(lossy) + " (" + counted(dropped, "event") +
                                        " dropped): counts and times of what is missing are too low."});
  }
  if (!early.empty()) {
    verdict.push_back(
        {Level::kBad, "The trace of " + ranks_words(early) + " ends early: only what stands before counts."});
  }
  if (!limited.empty()) {
    verdict.push_back({Level::kNotice, "A limit closed the window on " + ranks_words(limited) + "."});
  }
  if (!cut.empty()) {
    verdict.push_back({Level::kNotice, "The end of the job cut the window on " + ranks_words(cut) +
                                           ": what was to be recorded after it never came."});
  }
  if (!problems.empty()) {
    verdict.push_back({Level::kNotice, counted(problems.size(), "problem") + " of the recording: " + *problems.begin() +
                                           (problems.size() > 1 ? " (and others, below)." : ".")});
  }
  if (known && lossy.empty() && early.empty() && problems.empty()) {
    verdict.push_back({Level::kGood, "No recorded event was lost."});
  } else if (!known && lossy.empty()) {
    verdict.push_back({Level::kPlain, "Whether events were lost is not said in these traces."});
  }
}

}  // namespace profshim::analysis_detail
