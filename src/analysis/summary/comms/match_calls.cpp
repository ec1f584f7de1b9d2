#include "match_calls.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "analysis/model/collective_family.h"
#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {

CallMatcher::CallMatcher(const CommsCalls& calls, const std::map<CommsGroupKey, std::string>& labels,
                         const CommsView::Observer& observe)
    : waits{.key = "waits",
            .title = "Waiting for other ranks",
            .columns = {{"group", "Group"},
                        {"function", "Function"},
                        {"rank", "Rank"},
                        {"matched", "Matched"},
                        {"waited_us", "Waited", Unit::kTime},
                        {"mean_us", "Mean", Unit::kTime},
                        {"max_us", "Max", Unit::kTime},
                        {"came_last", "Came last"}}},
      never_entered{.key = "never_entered",
                    .columns = {{"rank", "Rank"}, {"function", "Function"}, {"sequence", "Seq"}, {"group", "Group"}}},
      calls_(calls),
      labels_(labels),
      observe_(observe) {}

void CallMatcher::match(const CommsRowKey& key, std::vector<CommsCall>& row) {
  const bool known_group = key.group.name != 0 || key.group.ranks != 0;
  const bool message = collective_family(calls_.texts[key.function]).message;
  if (message || key.only_starts || !known_group || calls_.ranks.size() < 2) return;
  const bool numbered = std::all_of(row.begin(), row.end(), [](const CommsCall& c) { return c.sequence >= 0; });
  if (!number_occurrences(key, row, numbered)) return;
  std::stable_sort(row.begin(), row.end(), [=](const CommsCall& a, const CommsCall& b) {
    return std::tuple(numbered ? a.sequence : 0, a.occurrence) < std::tuple(numbered ? b.sequence : 0, b.occurrence);
  });
  std::map<int, Waits> waited;
  const std::set<int> members = members_with_traces(key.group);
  for (std::size_t i = 0; i < row.size();) {
    std::size_t next = i + 1;
    while (next < row.size() && (!numbered || row[next].sequence == row[i].sequence) &&
           row[next].occurrence == row[i].occurrence) {
      ++next;
    }
    add_instance(key, &row[i], row.data() + next, waited);
    if (numbered) add_missing_ranks(key, &row[i], row.data() + next, members);
    i = next;
  }
  add_waits(key, waited);
}

/// Sets CommsCall::occurrence. If calls cannot be matched, adds a note and returns false.
bool CallMatcher::number_occurrences(const CommsRowKey& key, std::vector<CommsCall>& row, bool numbered) {
  std::sort(row.begin(), row.end(), [=](const CommsCall& a, const CommsCall& b) {
    return std::tuple(a.rank, numbered ? a.sequence : 0, a.begin_ns) <
           std::tuple(b.rank, numbered ? b.sequence : 0, b.begin_ns);
  });
  std::map<int, std::int64_t> counts;
  for (std::size_t i = 0; i < row.size(); ++i) {
    CommsCall& call = row[i];
    const bool again = i > 0 && row[i - 1].rank == call.rank && (!numbered || row[i - 1].sequence == call.sequence);
    call.occurrence = again ? row[i - 1].occurrence + 1 : 0;
    ++counts[call.rank];
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end(),
                                                 [](const auto& a, const auto& b) { return a.second < b.second; });
  if (numbered || least->second == most->second) return true;
  notes.push_back(std::string(calls_.texts[key.function]) + " on " + labels_.at(key.group) +
                  " has no sequence numbers, and the numbers of calls differ (rank " + std::to_string(least->first) +
                  ": " + std::to_string(least->second) + ", rank " + std::to_string(most->first) + ": " +
                  std::to_string(most->second) + "): cannot tell which ranks waited");
  return false;
}

void CallMatcher::add_instance(const CommsRowKey& key, const CommsCall* begin, const CommsCall* end,
                               std::map<int, Waits>& waited) {
  const bool comparable =
      end - begin > 1 && std::none_of(begin, end, [](const CommsCall& c) { return c.unfinished || c.asynchronous; });
  if (!comparable) return;
  const CommsCall& shortest = *std::min_element(
      begin, end, [](const CommsCall& a, const CommsCall& b) { return a.duration_ns < b.duration_ns; });
  for (const CommsCall* c = begin; c != end; ++c) {
    waited[c->rank].durations_ns.push_back(c->duration_ns - shortest.duration_ns);
  }
  if (!collective_family(calls_.texts[key.function]).waits_for_all) return;
  const bool is_certain =
      std::count_if(begin, end, [&](const CommsCall& c) { return c.duration_ns == shortest.duration_ns; }) == 1;
  if (is_certain) ++waited[shortest.rank].last;
  if (observe_) observe_instance(key, begin, end, shortest, is_certain);
}

void CallMatcher::observe_instance(const CommsRowKey& key, const CommsCall* begin, const CommsCall* end,
                                   const CommsCall& shortest, bool is_certain) {
  std::vector<std::pair<int, std::int64_t>> waited_ns;
  CommsView::Instance instance{.group = labels_.at(key.group),
                               .function = calls_.texts[key.function],
                               .number = begin->sequence,
                               .begin_ns = begin->begin_ns,
                               .last = is_certain ? shortest.rank : -1};
  for (const CommsCall* c = begin; c != end; ++c) {
    waited_ns.emplace_back(c->rank, c->duration_ns - shortest.duration_ns);
    instance.begin_ns = std::min(instance.begin_ns, c->begin_ns);
  }
  instance.waited_ns = waited_ns;
  observe_(instance);
}

void CallMatcher::add_missing_ranks(const CommsRowKey& key, const CommsCall* begin, const CommsCall* end,
                                    const std::set<int>& members) {
  if (static_cast<std::size_t>(end - begin) >= members.size()) return;
  const bool some_inside = std::any_of(begin, end, [](const CommsCall& c) { return c.unfinished; });
  const bool some_left = std::any_of(begin, end, [](const CommsCall& c) { return !c.unfinished; });
  const bool waits_for_all = collective_family(calls_.texts[key.function]).waits_for_all;
  std::int64_t entered_ns = begin->begin_ns;
  for (const CommsCall* c = begin; c != end; ++c) entered_ns = std::min(entered_ns, c->begin_ns);
  const CommsGroup& group = calls_.groups.at(key.group);
  for (const int rank : members) {
    if (std::any_of(begin, end, [=](const CommsCall& c) { return c.rank == rank; })) continue;
    const CommsRank& traces = calls_.ranks.at(rank);
    const auto sequences = group.sequences.find(rank);
    const bool has_later = sequences != group.sequences.end() && sequences->second.second > begin->sequence;
    const bool seen_until_then = traces.incomplete || traces.last_ns >= entered_ns;
    if (some_inside && !(waits_for_all && some_left) && !has_later && !traces.lossy && seen_until_then) {
      const std::string function(calls_.texts[key.function]), label = labels_.at(key.group);
      never_entered.rows.push_back({std::int64_t{rank}, function, begin->sequence, label});
      notes.push_back("rank " + std::to_string(rank) + " never entered " + function + " #" +
                      std::to_string(begin->sequence) + " on " + label);
    } else if (has_later && sequences->second.first < begin->sequence) {
      Absent& absent = absent_.emplace(std::pair{key, rank}, Absent{0, begin->sequence}).first->second;
      ++absent.count;
      absent.first_sequence = std::min(absent.first_sequence, begin->sequence);
    }
  }
}

void CallMatcher::add_waits(const CommsRowKey& key, const std::map<int, Waits>& waited) {
  for (const auto& [rank, wait] : waited) {
    const Statistics s = statistics(wait.durations_ns);
    Cell last;
    if (collective_family(calls_.texts[key.function]).waits_for_all) last = wait.last;
    waits.rows.push_back({labels_.at(key.group), std::string(calls_.texts[key.function]), std::int64_t{rank}, s.count,
                          s.total_us, s.mean_us, s.max_us, last});
  }
}

void CallMatcher::add_absent_notes() {
  for (const auto& [at, absent] : absent_) {
    const auto& [key, rank] = at;
    notes.push_back("traces of rank " + std::to_string(rank) + " lack " + std::to_string(absent.count) +
                    (absent.count == 1 ? " call of " : " calls of ") + std::string(calls_.texts[key.function]) +
                    " on " + labels_.at(key.group) + " (first: #" + std::to_string(absent.first_sequence) + ")");
  }
}

std::set<int> CallMatcher::members_with_traces(const CommsGroupKey& key) const {
  std::set<int> result;
  const CommsGroup& group = calls_.groups.at(key);
  std::string_view text = calls_.texts[key.ranks];
  while (!text.empty()) {  // "[0, 1]"; a long list is abbreviated with "..."
    int rank = -1;
    const std::size_t at = text.find_first_of("0123456789");
    if (at == std::string_view::npos) break;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error != std::errc{}) break;
    if (calls_.ranks.count(rank) != 0) result.insert(rank);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  for (const auto& [rank, sequences] : group.sequences) result.insert(rank);
  if (group.size > 0 && group.size == calls_.world_size) {
    for (const auto& [rank, traces] : calls_.ranks) result.insert(rank);
  }
  return result;
}

}  // namespace profshim::analysis_detail
