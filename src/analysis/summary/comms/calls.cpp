#include "calls.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analysis/model/activity_names.h"
#include "analysis/model/collective_family.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

std::map<CommsGroupKey, std::string> CommsCalls::group_labels() const {
  const auto plain_label = [&](const CommsGroupKey& key, const CommsGroup& group) {
    const std::string_view label = texts[group.label];
    if (!label.empty() && label != "undefined") return std::string(label);
    return key.name != 0 ? std::string(texts[key.name]) : key.ranks != 0 ? std::string(texts[key.ranks]) : "unknown";
  };
  std::map<std::string, int> uses;
  for (const auto& [key, group] : groups) ++uses[plain_label(key, group)];
  std::map<CommsGroupKey, std::string> labels;
  for (const auto& [key, group] : groups) {
    std::string label = plain_label(key, group);
    if (uses[label] > 1) label += " " + std::string(texts[key.ranks != 0 ? key.ranks : key.name]);
    labels[key] = label;
  }
  return labels;
}

namespace {

/// Returns "AllReduce" for ncclDevKernel_AllReduce_RING_LL(...).
std::string_view function_of_kernel(std::string_view name) {
  if (name.starts_with(schema::name::kNcclStart)) {
    if (const std::size_t at = name.find('_'); at != std::string_view::npos) name.remove_prefix(at + 1);
    return name.substr(0, name.find_first_of("_(<"));
  }
  return name.substr(0, name.find_first_of("(<"));
}

std::int64_t bytes_of_type(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"Byte", 1}, {"Char", 1},  {"Bool", 1}, {"Short", 2},  {"Half", 2},         {"BFloat16", 2},
      {"Int", 4},  {"Float", 4}, {"Long", 8}, {"Double", 8}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == dtype) return bytes;
  }
  return dtype.starts_with("Float8") ? 1 : 0;
}

/// Returns the bytes of the larger of input and output, as nccl-tests does, or else c.bytes. kMost prevents overflow.
std::int64_t size_of(const Communication& c, std::string_view dtype) {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  if (const std::int64_t size = bytes_of_type(dtype); size > 0 && c.elements_in >= 0) {
    return std::min(std::max(c.elements_in, c.elements_out), kMost / 16) * size;
  }
  return c.bytes >= 0 ? std::min(c.bytes, kMost) : -1;
}

/// PyTorch records these as record_param_comms as well.
bool is_no_collective(std::string_view name) { return name == "wait" || name == "init"; }

/// True for ranges on a backend's own thread. "nccl:all_reduce" is on the operator's thread.
bool is_work_range(std::string_view name) {
  return name.starts_with(schema::name::kGlooStart) || name.starts_with("ucc:") || name.starts_with("mpi:");
}

bool is_mpi_name(std::string_view name) { return name.starts_with(schema::name::kMpiStart); }

class FileCalls {
 public:
  FileCalls(CommsCalls& calls, const Timeline& timeline, int rank)
      : calls_(calls),
        timeline_(timeline),
        rank_(rank),
        is_mpi_(matching_texts(timeline.texts, is_mpi_name)),
        is_work_range_(matching_texts(timeline.texts, is_work_range)),
        is_collective_kernel_(matching_texts(timeline.texts, is_collective_kernel)),
        texts_(timeline.texts.size(), 0) {}

  void add_all() {
    find_operators();
    match_work_ranges();
    for (const Slice& s : timeline_.slices) {
      if (is_kernel(s)) {
        add_kernel(s);
      } else if (is_operator(s)) {
        add_operator(s);
      } else if (is_mpi_collective(s)) {
        add_mpi_collective(s);
      }
    }
  }

 private:
  struct Work {
    std::vector<const Slice*> started, done;
  };
  struct AsyncKey {
    TextId name, group;
    std::int64_t sequence;
    auto operator<=>(const AsyncKey&) const = default;
  };

  const Communication* communication_of(const Slice& s) const {
    return s.communication == kNone ? nullptr : &timeline_.communications[s.communication];
  }
  bool is_operator(const Slice& s) const {
    const Communication* const c = communication_of(s);
    return s.kind == Kind::kCpuOp && c != nullptr && c->collective != 0 &&
           !is_no_collective(timeline_.texts[c->collective]);
  }
  bool is_kernel(const Slice& s) const {
    const Communication* const c = communication_of(s);
    return s.kind == Kind::kKernel && (is_collective_kernel_[s.name] || (c != nullptr && c->collective != 0));
  }
  bool is_mpi_collective(const Slice& s) const {
    const Communication* const c = communication_of(s);
    return c != nullptr && s.kind == Kind::kCpuOp && is_mpi_[s.name] && c->sequence >= 0;
  }

  void find_operators() {
    for (const Slice& s : timeline_.slices) {
      const Communication* const c = communication_of(s);
      if (is_operator(s)) {
        if (s.external_id != 0) operators_[s.external_id] = c;
        work_[letters(timeline_.texts[c->collective])].started.push_back(&s);
      }
      if (is_kernel(s) && s.external_id != 0) with_kernel_.insert(s.external_id);
      if (s.kind == Kind::kUserAnnotation && is_work_range_[s.name]) {
        const std::string_view name = timeline_.name_of(s);
        work_[letters(name.substr(name.find(':') + 1))].done.push_back(&s);
      }
      if (c != nullptr && s.asynchronous && c->sequence >= 0) asynchronous_.insert({s.name, c->group, c->sequence});
    }
  }

  /// Matches a function's n-th range with its n-th operator: backends keep the order.
  void match_work_ranges() {
    const auto is_earlier = [](const Slice* a, const Slice* b) { return a->begin_ns < b->begin_ns; };
    for (auto& [name, work] : work_) {
      if (work.started.size() != work.done.size()) continue;
      std::stable_sort(work.started.begin(), work.started.end(), is_earlier);
      std::stable_sort(work.done.begin(), work.done.end(), is_earlier);
      const bool fits =
          std::equal(work.started.begin(), work.started.end(), work.done.begin(),
                     [](const Slice* start, const Slice* done) { return start->begin_ns <= done->begin_ns; });
      for (std::size_t i = 0; fits && i < work.done.size(); ++i) work_range_of_[work.started[i]] = work.done[i];
    }
  }

  void add_kernel(const Slice& s) {
    const Communication* c = communication_of(s);
    if (c == nullptr || c->collective == 0) {
      const auto at = operators_.find(s.external_id);
      c = at != operators_.end() ? at->second : nullptr;
    }
    if (c != nullptr) {
      add_call(s, *c, {.function = shared(c->collective), .on_device = true});
    } else {
      add_call(s, {}, {.function = calls_.texts.add(function_of_kernel(timeline_.name_of(s))), .on_device = true});
    }
  }

  void add_operator(const Slice& s) {
    if (s.external_id != 0 && with_kernel_.count(s.external_id) != 0) return;
    const Communication& c = *communication_of(s);
    const auto work = work_range_of_.find(&s);
    const bool only_starts = work == work_range_of_.end();
    add_call(only_starts ? s : *work->second, c, {.function = shared(c.collective), .only_starts = only_starts});
  }

  void add_mpi_collective(const Slice& s) {
    const Communication& c = *communication_of(s);
    if (!s.asynchronous && asynchronous_.count({s.name, c.group, c.sequence}) != 0) return;
    add_call(s, c, {.function = shared(s.name)});
  }

  void add_call(const Slice& s, const Communication& c, CommsRowKey key) {
    key.group = {shared(c.group != 0 ? c.group : c.group_label), shared(c.ranks)};
    CommsGroup& group = calls_.groups[key.group];
    if (group.label == 0) group.label = shared(c.group_label);
    if (c.group_size > 0) group.size = c.group_size;
    if (c.sequence >= 0) {
      auto& [first, last] = group.sequences.emplace(rank_, std::pair{c.sequence, c.sequence}).first->second;
      first = std::min(first, c.sequence);
      last = std::max(last, c.sequence);
    }
    calls_.rows[key].push_back({.sequence = c.sequence,
                                .begin_ns = s.begin_ns,
                                .duration_ns = s.duration_ns,
                                .bytes = size_of(c, timeline_.texts[c.dtype]),
                                .rank = rank_,
                                .unfinished = s.unfinished,
                                .asynchronous = s.asynchronous});
  }

  TextId shared(TextId id) {
    if (id != 0 && texts_[id] == 0) texts_[id] = calls_.texts.add(timeline_.texts[id]);
    return texts_[id];
  }

  CommsCalls& calls_;
  const Timeline& timeline_;
  int rank_;
  std::vector<bool> is_mpi_, is_work_range_, is_collective_kernel_;
  std::vector<TextId> texts_;  // ids in calls_.texts; 0 = not added yet
  std::unordered_map<std::int64_t, const Communication*> operators_;
  std::unordered_set<std::int64_t> with_kernel_;
  std::map<std::string, Work> work_;
  std::unordered_map<const Slice*, const Slice*> work_range_of_;
  std::set<AsyncKey> asynchronous_;  // calls that also have an asynchronous slice, which ends at their completion
};

}  // namespace

void collect_calls(CommsCalls& calls, const Timeline& timeline, int rank) {
  CommsRank& traces = calls.ranks[rank];
  traces.incomplete = traces.incomplete || !timeline.complete;
  traces.lossy = traces.lossy || timeline.dropped > 0 || timeline.truncated;
  for (const Slice& s : timeline.slices) traces.last_ns = std::max(traces.last_ns, s.end_ns());
  calls.world_size = std::max(calls.world_size, timeline.world_size);
  FileCalls(calls, timeline, rank).add_all();
}

}  // namespace profshim::analysis_detail
