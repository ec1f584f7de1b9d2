#include "torch_sync_points.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "analysis/model/activity_names.h"
#include "analysis/model/collective_family.h"
#include "analysis/model/event_args.h"
#include "profshim/base/key_hash.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

/// Gloo's operations that synchronize a group. all_to_all is left out: it may send some ranks nothing.
enum class Work : std::uint8_t { kNone, kAllReduce, kAllGather, kBarrier };
constexpr std::size_t kWorks = 4;

Work work_of(std::string_view function) {
  const std::string name = letters(function);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("allreduce") || has("reducescatter")) return Work::kAllReduce;  // gloo runs reduce-scatters as allreduce
  if (has("allgather")) return Work::kAllGather;
  return has("barrier") ? Work::kBarrier : Work::kNone;
}

/// All ranks of a group make their collective calls in the same order.
struct Call {
  std::int64_t begin_ns = 0, thread = 0, external_id = 0;
  std::uint64_t group = 0;
  std::uint64_t name = 0, content = 0;
  Work work = Work::kNone;
  bool empty = false;
  bool alone = false;  // group of one rank: gloo runs the call but synchronizes nothing
};

struct Span {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t event = kNoEvent;
};

struct Kernel {
  std::int64_t external_id = 0;
  std::uint64_t name = 0;
  Span span;
};

struct Step {
  std::int64_t number = 0, begin_ns = 0, end_ns = 0, thread = 0;
};

/// An overflow track, for overlapping slices, has the tid of its thread plus a multiple of this number.
constexpr std::int64_t kOverflowTrackStep = 10'000'000;
std::int64_t thread_of(const ReadEvent& e) { return e.tid % kOverflowTrackStep; }

Span span_of(const ReadEvent& e, std::uint64_t place) {
  return {e.ts_ns, bounded_sum(e.ts_ns, std::max<std::int64_t>(e.duration_ns, 0)), place};
}

/// True if a dimension is 0, as in "[[[8, 0]], []]".
bool has_empty_tensor(std::string_view dims) {
  for (std::size_t at = dims.find('0'); at != std::string_view::npos; at = dims.find('0', at + 1)) {
    const auto is_digit = [&](std::size_t i) { return i < dims.size() && dims[i] >= '0' && dims[i] <= '9'; };
    if (!is_digit(at - 1) && !is_digit(at + 1)) return true;
  }
  return false;
}

/// Ranges of these backends, unlike gloo's, cannot be matched to calls.
bool is_work_of_another_backend(std::string_view name) {
  constexpr std::string_view kBackends[] = {"nccl:", "mpi:", "ucc:", "xccl:", "hccl:"};
  return std::any_of(std::begin(kBackends), std::end(kBackends),
                     [=](std::string_view backend) { return name.starts_with(backend); });
}

constexpr std::string_view kGloo = schema::name::kGlooStart, kOperators = schema::name::kC10dStart;

}  // namespace

struct TorchSyncPoints::Impl {
  std::vector<Call> calls;      // record_param_comms, with arguments
  std::vector<Call> operators;  // c10d::allreduce_ and others, without a group; used if `calls` is empty
  std::vector<Kernel> kernels;
  std::vector<Span> work[kWorks];
  struct Running {
    Work work;
    std::int64_t begin_ns;
  };
  std::unordered_map<std::int64_t, Running> running;
  std::vector<Step> steps;
  std::unordered_set<std::int64_t> backward_threads;
  std::optional<std::int64_t> pid;
  bool several_processes = false, other_backend = false;

  void call(const ReadEvent& e, std::string_view function, std::vector<Call>& to) {
    const CollectiveFamily family = collective_family(function);
    if (family.message || (family.bus == Bus::kUnknown && !family.waits_for_all)) return;
    several_processes = several_processes || (pid && *pid != e.pid);
    pid = e.pid;
    Call c{.begin_ns = e.ts_ns, .thread = thread_of(e), .external_id = integer_arg(e, schema::arg::kExternalId, 0)};
    const std::string_view group = text_arg(e, schema::arg::kGroupName), ranks = text_arg(e, schema::arg::kGroupRanks);
    if (!group.empty() && !ranks.empty()) c.group = mixed(mixed(kKeyStart, group), ranks);
    c.alone = integer_arg(e, schema::arg::kGroupSize, 2) < 2;
    c.name = mixed(kKeyStart, function);
    c.work = family.waits_for_all ? work_of(function) : Work::kNone;
    c.content = c.name;
    const std::int64_t in = integer_arg(e, schema::arg::kInElements, -1),
                       out = integer_arg(e, schema::arg::kOutElements, -1);
    const std::string_view dims = text_arg(e, schema::arg::kInputDims);
    c.empty = c.work != Work::kBarrier && (in == 0 || out == 0 || has_empty_tensor(dims));
    // In gathers, scatters and all-to-alls each rank has its own sizes.
    const bool same_sizes =
        family.bus == Bus::kOne || (family.waits_for_all && letters(function).find("alltoall") == std::string::npos);
    if (same_sizes) c.content = mixed(mixed(mixed(mixed(c.content, in), out), text_arg(e, schema::arg::kDtype)), dims);
    to.push_back(c);
  }

  void add_work(Work kind, const Span& span) {
    if (kind != Work::kNone) work[static_cast<std::size_t>(kind)].push_back(span);
  }

  void step(const ReadEvent& e, std::string_view digits) {
    if (e.category.starts_with("gpu")) return;  // the step's copy on a device
    const Span span = span_of(e, 0);
    Step step{.begin_ns = span.begin_ns, .end_ns = span.end_ns, .thread = thread_of(e)};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step.number);
    if (error == std::errc{} && end == digits.data() + digits.size()) steps.push_back(step);
  }

  using Spans = std::unordered_map<std::uint32_t, Span>;
  using Numbers = std::vector<std::uint32_t>;

  void finish(const TraceMetadata& metadata, std::vector<SyncPoint>& sync_points) {
    // Steps that are time intervals begin at different places of the program on each rank.
    if (metadata.recording && metadata.recording->steps_source.starts_with("time")) steps.clear();
    if (several_processes || !prepare_steps()) return;
    if (calls.empty()) calls = std::move(operators);
    const std::uint64_t members = only_members(metadata);
    for (Call& c : calls) c.group = c.group != 0 ? c.group : members;
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.begin_ns < b.begin_ns; });
    Spans spans;
    kernel_spans(spans);
    if (spans.empty() && !other_backend) {
      for (const Work w : {Work::kAllReduce, Work::kAllGather, Work::kBarrier}) gloo_spans(w, spans);
    }
    std::map<std::pair<std::uint64_t, const Step*>, Numbers> parts;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      const Step* const in = step_at(calls[i].begin_ns);
      if (calls[i].group == 0 || calls[i].alone) continue;
      if (steps.empty() || in != nullptr) parts[{calls[i].group, in}].push_back(i);
    }
    for (const auto& [key, numbers] : parts) add_part(numbers, key.second, spans, sync_points);
  }

  /// Returns a key for calls without a group if all groups have the same ranks; else 0.
  static std::uint64_t only_members(const TraceMetadata& metadata) {
    const std::vector<TraceMetadata::Group>& groups = metadata.groups;
    if (groups.empty()) return 0;
    const TraceMetadata::Group& first = groups.front();
    const bool the_same = std::all_of(groups.begin(), groups.end(),
                                      [&](const TraceMetadata::Group& group) { return group.has_same_members(first); });
    // PyTorch lists no ranks for a group of all ranks.
    const bool known = !first.ranks.empty() || first.size == metadata.world_size;
    if (!the_same || !known || first.size < 2) return 0;
    std::uint64_t key = mixed(mixed(kKeyStart, "members"), first.size);
    for (const std::int64_t rank : first.ranks) key = mixed(key, rank);
    return key;
  }

  bool prepare_steps() {
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; });
    constexpr std::int64_t kRounding_ns = 1000;
    std::unordered_set<std::int64_t> numbers;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!numbers.insert(steps[i].number).second) return false;
      if (i > 0 && bounded_sum(steps[i].begin_ns, kRounding_ns) < steps[i - 1].end_ns) return false;
    }
    return true;
  }

  const Step* step_at(std::int64_t ns) const {
    const auto next = std::upper_bound(steps.begin(), steps.end(), ns,
                                       [](std::int64_t at, const Step& step) { return at < step.begin_ns; });
    if (next == steps.begin()) return nullptr;
    const Step& step = *(next - 1);
    return ns < step.end_ns ? &step : nullptr;
  }

  void kernel_spans(Spans& spans) {
    std::unordered_map<std::int64_t, std::uint32_t> by_id;
    std::unordered_set<std::int64_t> twice;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      if (calls[i].external_id != 0 && !by_id.emplace(calls[i].external_id, i).second)
        twice.insert(calls[i].external_id);
    }
    for (const Kernel& kernel : kernels) {
      const auto at = by_id.find(kernel.external_id);
      if (at == by_id.end() || calls[at->second].name != kernel.name) continue;
      if (!spans.emplace(at->second, kernel.span).second) twice.insert(kernel.external_id);
    }
    for (const std::int64_t id : twice) spans.erase(by_id.at(id));
  }

  /// Gloo starts calls in order but may run several at once. Calls that overlap all get the latest end.
  void gloo_spans(Work kind, Spans& spans) {
    std::vector<Span>& done = work[static_cast<std::size_t>(kind)];
    std::sort(done.begin(), done.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
    Numbers started;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      if (calls[i].work == kind) started.push_back(i);
    }
    const bool fits =
        done.size() <= started.size() &&
        std::equal(done.begin(), done.end(), started.begin(),
                   started.begin() + static_cast<std::ptrdiff_t>(done.size()),
                   [this](const Span& span, std::uint32_t call) { return calls[call].begin_ns <= span.begin_ns; });
    if (!fits) return;  // a gloo range belongs to a call before the window
    for (std::size_t from = 0, i = 0; i < done.size(); ++i) {
      // Quiet: all calls so far ended before the next began.
      const std::int64_t end_ns = std::max(done[i].end_ns, i > from ? done[i - 1].end_ns : done[i].end_ns);
      done[i].end_ns = end_ns;
      const bool quiet = i + 1 < started.size() ? end_ns <= calls[started[i + 1]].begin_ns : true;
      if (!quiet) continue;
      for (std::size_t j = from; j <= i; ++j) {
        if (calls[started[j]].empty) continue;
        spans[started[j]] =
            from == i ? done[i] : Span{std::max(calls[started[j]].begin_ns, done[from].begin_ns), end_ns, kNoEvent};
      }
      from = i + 1;
    }
  }

  /// True if one thread and autograd's threads made all calls: with more threads, the order may differ between ranks.
  bool in_order(const Numbers& numbers, const Step* step) const {
    std::optional<std::int64_t> thread;
    if (step != nullptr) thread = step->thread;
    for (const std::uint32_t i : numbers) {
      if (backward_threads.contains(calls[i].thread)) continue;
      if (thread && *thread != calls[i].thread) return false;
      thread = calls[i].thread;
    }
    return true;
  }

  /// False if a window shifted by up to half its length could show the same calls: ranks would match wrongly.
  bool tells_its_place(const Numbers& numbers) const {
    std::vector<std::size_t> border(numbers.size(), 0);  // failure function of Knuth-Morris-Pratt
    const auto same = [&](std::size_t a, std::size_t b) {
      return calls[numbers[a]].content == calls[numbers[b]].content;
    };
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      std::size_t length = border[i - 1];
      while (length > 0 && !same(i, length)) length = border[length - 1];
      border[i] = same(i, length) ? length + 1 : 0;
    }
    return 2 * (border.back() + 1) <= numbers.size();
  }

  void add_part(const Numbers& numbers, const Step* step, const Spans& spans,
                std::vector<SyncPoint>& sync_points) const {
    if (!in_order(numbers, step) || (step == nullptr && !tells_its_place(numbers))) return;
    std::uint64_t key = mixed(mixed(kKeyStart, "torch"), static_cast<std::int64_t>(calls[numbers[0]].group));
    key = step != nullptr ? mixed(mixed(key, "step"), step->number) : mixed(key, "window");
    for (const std::uint32_t i : numbers) key = mixed(key, static_cast<std::int64_t>(calls[i].content));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto span = spans.find(numbers[i]);
      if (span == spans.end()) continue;
      const Span& s = span->second;
      sync_points.push_back({mixed(key, static_cast<std::int64_t>(i)), s.begin_ns, s.end_ns, s.event, true});
    }
  }
};

TorchSyncPoints::TorchSyncPoints() : impl_(std::make_unique<Impl>()) {}
TorchSyncPoints::~TorchSyncPoints() = default;

void TorchSyncPoints::slice(const ReadEvent& e, std::uint64_t place) {
  constexpr std::string_view kStep = schema::name::kStepStart;
  if (e.category == schema::category::kKernel) {
    const std::string_view function = text_arg(e, schema::arg::kCollective);
    const std::int64_t id = integer_arg(e, schema::arg::kExternalId, 0);
    if (id == 0 || !is_collective_kernel(e.name) || !collective_family(function).waits_for_all) return;
    impl_->kernels.push_back({id, mixed(kKeyStart, function), span_of(e, place)});
  } else if (e.name == schema::name::kCommunication) {
    const std::string_view function = text_arg(e, schema::arg::kCollective);
    if (!function.empty() && find_arg(e, schema::arg::kSequence) == nullptr) impl_->call(e, function, impl_->calls);
  } else if (e.name.starts_with(kOperators)) {
    impl_->call(e, e.name.substr(kOperators.size()), impl_->operators);
  } else if (e.name.starts_with(kGloo)) {
    if (is_whole(e)) impl_->add_work(work_of(e.name), span_of(e, place));
  } else if (e.name.starts_with(schema::name::kBackwardStart)) {
    impl_->backward_threads.insert(thread_of(e));
  } else if (e.name.starts_with(kStep)) {
    impl_->step(e, e.name.substr(kStep.size()));
  } else if (is_work_of_another_backend(e.name)) {
    impl_->other_backend = true;
  }
}

void TorchSyncPoints::begins(const ReadEvent& e) {
  if (e.name.starts_with(kGloo) && is_whole(e)) impl_->running[e.id] = {work_of(e.name), e.ts_ns};
}

// kNoEvent keeps arrows away: an arrow needs a thread, which asynchronous slices lack.
void TorchSyncPoints::ends(const ReadEvent& e) {
  const auto at = impl_->running.find(e.id);
  if (at == impl_->running.end()) return;
  const auto [work, begin_ns] = at->second;
  impl_->running.erase(at);
  impl_->add_work(work, {begin_ns, std::max(begin_ns, e.ts_ns), kNoEvent});
}

void TorchSyncPoints::finish(const TraceMetadata& metadata, std::vector<SyncPoint>& sync_points) {
  impl_->finish(metadata, sync_points);
}

}  // namespace profshim::analysis_detail
