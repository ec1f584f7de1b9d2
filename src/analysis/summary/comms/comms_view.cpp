#include "comms_view.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "analysis/model/collective_family.h"
#include "analysis/model/statistics.h"
#include "profshim/analysis/views.h"
#include "trace/schema.h"

namespace profshim::analysis_detail {
namespace {

std::optional<double> bus_factor(Bus bus, std::int64_t ranks) {
  if (bus == Bus::kOne) return 1;
  if (bus == Bus::kUnknown || ranks < 1) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return bus == Bus::kOthers ? others : 2 * others;
}

/// "AllReduce" of ncclDevKernel_AllReduce_RING_LL(...), which has no arguments that say it.
std::string_view function_of_kernel(std::string_view name) {
  if (name.starts_with(schema::name::kNcclStart)) {
    if (const std::size_t at = name.find('_'); at != std::string_view::npos) name.remove_prefix(at + 1);
    return name.substr(0, name.find_first_of("_(<"));
  }
  return name.substr(0, name.find_first_of("(<"));
}

/// PyTorch's names of types. 0 = not known.
std::int64_t bytes_of_type(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"Byte", 1}, {"Char", 1},  {"Bool", 1}, {"Short", 2},  {"Half", 2},         {"BFloat16", 2},
      {"Int", 4},  {"Float", 4}, {"Long", 8}, {"Double", 8}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == dtype) return bytes;
  }
  return dtype.starts_with("Float8") ? 1 : 0;
}

/// What PyTorch marks as record_param_comms and is no collective.
bool is_no_collective(std::string_view name) { return name == "wait" || name == "init"; }

/// In "gloo:all_reduce" a thread of gloo does the work that the operator has only started; "nccl:all_reduce" lies in
/// the operator and says no more than it.
bool is_work_range(std::string_view name) {
  return name.starts_with(schema::name::kGlooStart) || name.starts_with("ucc:") || name.starts_with("mpi:");
}

struct AsyncKey {
  TextId name, group;
  std::int64_t sequence;
  auto operator<=>(const AsyncKey&) const = default;
};

}  // namespace

struct CommsView::Output {
  ViewTable calls, waits, never;
  std::vector<std::string> notes;
  std::map<std::pair<RowKey, int>, std::pair<std::int64_t, std::int64_t>> absent;  // how many, and the first
  std::map<GroupKey, std::string> labels;
};

// ---- one file

void CommsView::add(const Timeline& timeline, int rank) {
  const Timeline& t = timeline;
  RankFacts& facts = ranks_[rank];
  facts.cut = facts.cut || !t.complete;
  facts.lossy = facts.lossy || t.dropped > 0 || t.truncated;
  world_size_ = std::max(world_size_, t.world_size);

  enum class Text : std::uint8_t { kOther, kMpi, kWorkRange, kNcclKernel };
  std::vector<Text> kinds(t.texts.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string_view text = t.texts[static_cast<TextId>(i)];
    kinds[i] = text.starts_with(schema::name::kMpiStart) ? Text::kMpi
               : is_work_range(text)                     ? Text::kWorkRange
               : is_collective_kernel(text)              ? Text::kNcclKernel
                                                         : Text::kOther;
  }
  const auto communication = [&](const Slice& s) {
    return s.communication == kNone ? nullptr : &t.communications[s.communication];
  };
  const auto is_operator = [&](const Slice& s) {
    const Communication* const c = communication(s);
    return s.kind == Kind::kCpuOp && c != nullptr && c->collective != 0 && !is_no_collective(t.texts[c->collective]);
  };
  const auto is_kernel = [&](const Slice& s) {
    const Communication* const c = communication(s);
    return s.kind == Kind::kKernel && (kinds[s.name] == Text::kNcclKernel || (c != nullptr && c->collective != 0));
  };

  std::unordered_map<std::int64_t, const Communication*> operators;  // by External id
  std::unordered_map<std::int64_t, bool> has_kernel;                 // likewise
  struct Function {
    std::vector<const Slice*> started, done;
  };
  std::map<std::string, Function> functions;
  std::vector<Function*> function_of(t.texts.size(), nullptr);
  const auto function_called = [&](TextId id, std::string_view name) -> Function& {
    if (function_of[id] == nullptr) function_of[id] = &functions[letters(name)];
    return *function_of[id];
  };
  std::set<AsyncKey> asynchronous;
  for (const Slice& s : t.slices) {
    facts.last_ns = std::max(facts.last_ns, s.end_ns());
    if (is_operator(s) && s.external_id != 0) operators[s.external_id] = communication(s);
    if (is_kernel(s) && s.external_id != 0) has_kernel[s.external_id] = true;
    if (s.kind == Kind::kUserAnnotation && kinds[s.name] == Text::kWorkRange) {
      const std::string_view name = t.name_of(s);
      function_called(s.name, name.substr(name.find(':') + 1)).done.push_back(&s);
    }
    if (is_operator(s)) {
      const TextId collective = communication(s)->collective;
      function_called(collective, t.texts[collective]).started.push_back(&s);
    }
    if (const auto* c = communication(s); c != nullptr && s.asynchronous && c->sequence >= 0) {
      asynchronous.insert({s.name, c->group, c->sequence});
    }
  }
  // Backends take up their work in the order in which it was started.
  std::unordered_map<const Slice*, const Slice*> work_of;
  for (auto& [name, of] : functions) {
    if (of.started.size() != of.done.size()) continue;
    const auto earlier = [](const Slice* a, const Slice* b) { return a->begin_ns < b->begin_ns; };
    std::stable_sort(of.started.begin(), of.started.end(), earlier);
    std::stable_sort(of.done.begin(), of.done.end(), earlier);
    const bool fits =
        std::equal(of.started.begin(), of.started.end(), of.done.begin(),
                   [](const Slice* start, const Slice* done) { return start->begin_ns <= done->begin_ns; });
    for (std::size_t i = 0; fits && i < of.done.size(); ++i) work_of[of.started[i]] = of.done[i];
  }

  std::vector<TextId> texts(t.texts.size(), 0);  // of the file -> ours, when asked for
  const auto ours = [&](TextId id) {
    if (id != 0 && texts[id] == 0) texts[id] = texts_.add(t.texts[id]);
    return texts[id];
  };
  const auto add_call = [&](const Slice& s, const Communication& c, TextId function, bool on_device, bool only_starts) {
    const GroupKey key{ours(c.group != 0 ? c.group : c.group_label), ours(c.ranks)};
    Group& group = groups_[key];
    if (group.label == 0) group.label = ours(c.group_label);
    if (c.group_size > 0) group.size = c.group_size;
    if (c.sequence >= 0) {
      auto& [first, last] = group.numbers.emplace(rank, std::pair{c.sequence, c.sequence}).first->second;
      first = std::min(first, c.sequence);
      last = std::max(last, c.sequence);
    }
    Call call{.sequence = c.sequence,
              .begin_ns = s.begin_ns,
              .duration_ns = s.duration_ns,
              .rank = rank,
              .unfinished = s.unfinished,
              .asynchronous = s.asynchronous};
    constexpr std::int64_t kMost = std::int64_t{1} << 56;  // of what a file says, that products stay numbers
    if (const std::int64_t size = bytes_of_type(t.texts[c.dtype]); size > 0 && c.elements_in >= 0) {
      call.bytes = std::min(std::max(c.elements_in, c.elements_out), kMost / 16) * size;
    } else if (c.bytes >= 0) {
      call.bytes = std::min(c.bytes, kMost);
    }
    rows_[{key, function, on_device, only_starts}].push_back(call);
  };
  static const Communication kNothing;
  for (const Slice& s : t.slices) {
    if (is_kernel(s)) {
      const Communication* c = communication(s);
      if (c == nullptr || c->collective == 0) {
        const auto at = operators.find(s.external_id);
        c = at != operators.end() ? at->second : nullptr;
      }
      if (c != nullptr) {
        add_call(s, *c, ours(c->collective), true, false);
      } else {
        add_call(s, kNothing, texts_.add(function_of_kernel(t.name_of(s))), true, false);
      }
    } else if (is_operator(s)) {
      if (s.external_id != 0 && has_kernel.count(s.external_id) != 0) continue;
      const Communication& c = *communication(s);
      const auto work = work_of.find(&s);
      add_call(work != work_of.end() ? *work->second : s, c, ours(c.collective), false, work == work_of.end());
    } else if (const auto* c = communication(s);
               c != nullptr && s.kind == Kind::kCpuOp && kinds[s.name] == Text::kMpi && c->sequence >= 0) {
      if (!s.asynchronous && asynchronous.count({s.name, c->group, c->sequence}) != 0) continue;
      add_call(s, *c, ours(s.name), false, false);
    }
  }
}

// ---- all files

std::set<int> CommsView::members_with_traces(const GroupKey& key) const {
  std::set<int> result;
  const Group& group = groups_.at(key);
  std::string_view text = texts_[key.ranks];
  while (!text.empty()) {  // "[0, 1]"; of many, some stand as "..."
    int rank = -1;
    const std::size_t at = text.find_first_of("0123456789");
    if (at == std::string_view::npos) break;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error != std::errc{}) break;
    if (ranks_.count(rank) != 0) result.insert(rank);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  for (const auto& [rank, numbers] : group.numbers) result.insert(rank);
  if (group.size > 0 && group.size == world_size_) {
    for (const auto& [rank, facts] : ranks_) result.insert(rank);
  }
  return result;
}

void CommsView::add_missing(const RowKey& key, const Call* begin, const Call* end, const std::set<int>& members,
                            Output& out) {
  if (static_cast<std::size_t>(end - begin) >= members.size()) return;  // each rank has one of them
  const bool some_inside = std::any_of(begin, end, [](const Call& c) { return c.unfinished; });
  const bool some_left = std::any_of(begin, end, [](const Call& c) { return !c.unfinished; });
  const bool waits = collective_family(texts_[key.function]).waits_for_all;
  std::int64_t entered_ns = begin->begin_ns;
  for (const Call* c = begin; c != end; ++c) entered_ns = std::min(entered_ns, c->begin_ns);
  const Group& group = groups_.at(key.group);
  for (const int rank : members) {
    if (std::any_of(begin, end, [=](const Call& c) { return c.rank == rank; })) continue;
    const RankFacts& facts = ranks_.at(rank);
    const auto numbers = group.numbers.find(rank);
    const bool later = numbers != group.numbers.end() && numbers->second.second > begin->sequence;
    const bool seen_until_then = facts.cut || facts.last_ns >= entered_ns;
    if (some_inside && !(waits && some_left) && !later && !facts.lossy && seen_until_then) {
      const std::string function(texts_[key.function]), label = out.labels.at(key.group);
      out.never.rows.push_back({std::int64_t{rank}, function, begin->sequence, label});
      out.notes.push_back("rank " + std::to_string(rank) + " never entered " + function + " #" +
                          std::to_string(begin->sequence) + " on " + label);
    } else if (later && numbers->second.first < begin->sequence) {
      auto& [count, first] = out.absent.emplace(std::pair{key, rank}, std::pair{0, begin->sequence}).first->second;
      ++count;
      first = std::min(first, begin->sequence);
    }
  }
}

void CommsView::add_instance(const RowKey& key, const Call* begin, const Call* end, const Output& out,
                             std::map<int, Waits>& waits) {
  const bool comparable =
      end - begin > 1 && std::none_of(begin, end, [](const Call& c) { return c.unfinished || c.asynchronous; });
  if (!comparable) return;
  const Call* const least =
      std::min_element(begin, end, [](const Call& a, const Call& b) { return a.duration_ns < b.duration_ns; });
  const auto equal = std::count_if(begin, end, [=](const Call& c) { return c.duration_ns == least->duration_ns; });
  for (const Call* c = begin; c != end; ++c) waits[c->rank].durations_ns.push_back(c->duration_ns - least->duration_ns);
  if (!collective_family(texts_[key.function]).waits_for_all) return;
  if (equal == 1) ++waits[least->rank].last;
  if (!observe_) return;
  std::vector<std::pair<int, std::int64_t>> waited_ns;
  Instance instance{.group = out.labels.at(key.group),
                    .function = texts_[key.function],
                    .number = begin->sequence,
                    .begin_ns = begin->begin_ns,
                    .last = equal == 1 ? least->rank : -1};
  for (const Call* c = begin; c != end; ++c) {
    waited_ns.emplace_back(c->rank, c->duration_ns - least->duration_ns);
    instance.begin_ns = std::min(instance.begin_ns, c->begin_ns);
  }
  instance.waited_ns = waited_ns;
  observe_(instance);
}

void CommsView::match(const RowKey& key, std::vector<Call>& calls, Output& out) {
  const bool known_group = key.group.name != 0 || key.group.ranks != 0;
  if (collective_family(texts_[key.function]).message || key.only_starts || !known_group || ranks_.size() < 2) return;
  const bool numbered = std::all_of(calls.begin(), calls.end(), [](const Call& c) { return c.sequence >= 0; });
  std::sort(calls.begin(), calls.end(), [=](const Call& a, const Call& b) {
    return std::tuple(a.rank, numbered ? a.sequence : 0, a.begin_ns) <
           std::tuple(b.rank, numbered ? b.sequence : 0, b.begin_ns);
  });
  std::map<int, std::int64_t> counts;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Call& call = calls[i];
    const bool again = i > 0 && calls[i - 1].rank == call.rank && (!numbered || calls[i - 1].sequence == call.sequence);
    call.occurrence = again ? calls[i - 1].occurrence + 1 : 0;
    ++counts[call.rank];
  }
  if (!numbered) {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end(),
                                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    if (least->second != most->second) {
      out.notes.push_back(std::string(texts_[key.function]) + " on " + out.labels.at(key.group) +
                          " bears no numbers, and ranks have unequally many (rank " + std::to_string(least->first) +
                          ": " + std::to_string(least->second) + ", rank " + std::to_string(most->first) + ": " +
                          std::to_string(most->second) + "): who waited for whom is not known");
      return;
    }
  }
  std::stable_sort(calls.begin(), calls.end(), [=](const Call& a, const Call& b) {
    return std::tuple(numbered ? a.sequence : 0, a.occurrence) < std::tuple(numbered ? b.sequence : 0, b.occurrence);
  });
  std::map<int, Waits> waits;
  const std::set<int> members = members_with_traces(key.group);
  for (std::size_t i = 0; i < calls.size();) {
    std::size_t next = i + 1;
    while (next < calls.size() && (!numbered || calls[next].sequence == calls[i].sequence) &&
           calls[next].occurrence == calls[i].occurrence) {
      ++next;
    }
    add_instance(key, &calls[i], calls.data() + next, out, waits);
    if (numbered) add_missing(key, &calls[i], calls.data() + next, members, out);
    i = next;
  }
  for (const auto& [rank, wait] : waits) {
    const Statistics s = statistics(wait.durations_ns);
    Cell last;
    if (collective_family(texts_[key.function]).waits_for_all) last = wait.last;
    out.waits.rows.push_back({out.labels.at(key.group), std::string(texts_[key.function]), std::int64_t{rank}, s.count,
                              s.total_us, s.mean_us, s.max_us, last});
  }
}

void CommsView::add_row(const RowKey& key, std::vector<Call>& calls, Output& out) {
  const std::string function(texts_[key.function]);
  const CollectiveFamily family = collective_family(function);
  const std::int64_t size = groups_.at(key.group).size;
  std::vector<std::int64_t> durations;
  double bytes = 0, moved_bytes = 0, moved_ns = 0;
  std::int64_t least = -1, most = -1, sized = 0, unfinished = 0;
  for (Call& call : calls) {
    if (family.times_ranks && call.bytes > 0 && size > 0) {
      __builtin_mul_overflow(call.bytes, size, &call.bytes) ? call.bytes = -1 : 0;
    }
    if (call.bytes >= 0) {
      least = sized == 0 ? call.bytes : std::min(least, call.bytes);
      most = std::max(most, call.bytes);
      bytes += static_cast<double>(call.bytes);
      ++sized;
    }
    unfinished += call.unfinished ? 1 : 0;
    if (call.unfinished) continue;
    durations.push_back(call.duration_ns);
    if (call.bytes <= 0) continue;
    moved_bytes += static_cast<double>(call.bytes);
    moved_ns += static_cast<double>(call.duration_ns);
  }
  const Statistics s = statistics(durations);
  Cell ranks, min, mean, max, algorithm, bus;
  if (size > 0) ranks = size;
  if (sized > 0) {
    min = least;
    mean = bytes / static_cast<double>(sized);
    max = most;
  }
  if (moved_ns > 0 && !key.only_starts && !family.uneven && !(family.times_ranks && size <= 0)) {
    algorithm = moved_bytes / moved_ns;  // bytes per nanosecond are GB/s
    if (const auto factor = bus_factor(family.bus, size)) bus = *factor * moved_bytes / moved_ns;
  }
  out.calls.rows.push_back({out.labels.at(key.group), function,
                            std::string(key.on_device     ? "device"
                                        : key.only_starts ? "host, starts it"
                                                          : "host"),
                            ranks, static_cast<std::int64_t>(calls.size()), unfinished, min, mean, max, s.total_us,
                            s.mean_us, s.trimmed_mean_us, algorithm, bus});
  match(key, calls, out);
}

View CommsView::finish() {
  View view{.key = "comms"};
  Output out;
  out.calls = {.key = "comms",
               .title = "Collectives and messages",
               .columns = {{"group", "Group"},
                           {"function", "Function"},
                           {"where", "Where"},
                           {"group_size", "Ranks"},
                           {"count", "Count"},
                           {"unfinished", "Unfinished"},
                           {"min_bytes", "Min size", Unit::kBytes},
                           {"mean_bytes", "Mean size", Unit::kBytes},
                           {"max_bytes", "Max size", Unit::kBytes},
                           {"total_us", "Total", Unit::kTime},
                           {"mean_us", "Mean", Unit::kTime},
                           {"trimmed_mean_us", "Trimmed mean", Unit::kTime},
                           {"algorithm_gb_per_s", "Algorithm", Unit::kRate},
                           {"bus_gb_per_s", "Bus", Unit::kRate}}};
  out.waits = {.key = "waits",
               .title = "Waiting for other ranks",
               .columns = {{"group", "Group"},
                           {"function", "Function"},
                           {"rank", "Rank"},
                           {"matched", "Matched"},
                           {"waited_us", "Waited", Unit::kTime},
                           {"mean_us", "Mean", Unit::kTime},
                           {"max_us", "Max", Unit::kTime},
                           {"came_last", "Came last"}}};
  out.never = {.key = "never_entered",
               .columns = {{"rank", "Rank"}, {"function", "Function"}, {"sequence", "Seq"}, {"group", "Group"}}};
  std::map<std::string, int> uses;
  const auto plain_label = [&](const GroupKey& key, const Group& group) {
    const std::string_view label = texts_[group.label];
    if (!label.empty() && label != "undefined") return std::string(label);
    return key.name != 0 ? std::string(texts_[key.name]) : key.ranks != 0 ? std::string(texts_[key.ranks]) : "unknown";
  };
  for (const auto& [key, group] : groups_) ++uses[plain_label(key, group)];
  for (const auto& [key, group] : groups_) {
    std::string label = plain_label(key, group);
    if (uses[label] > 1) label += " " + std::string(texts_[key.ranks != 0 ? key.ranks : key.name]);
    out.labels[key] = label;
  }
  for (auto& [key, calls] : rows_) add_row(key, calls, out);
  for (const auto& [at, what] : out.absent) {
    out.notes.push_back(std::to_string(what.first) + " of " + std::string(texts_[at.first.function]) + " on " +
                        out.labels.at(at.first.group) + " are not in the traces of rank " + std::to_string(at.second) +
                        " (the first: #" + std::to_string(what.second) + ")");
  }
  std::stable_sort(out.calls.rows.begin(), out.calls.rows.end(),
                   [](const auto& a, const auto& b) { return std::get<double>(a[9]) > std::get<double>(b[9]); });
  if (rows_.empty()) out.notes.emplace_back("No collectives");
  view.tables = {std::move(out.calls), std::move(out.waits), std::move(out.never)};
  view.notes = std::move(out.notes);
  return view;
}

}  // namespace profshim::analysis_detail
