#include "profshim/analysis/trace_loop.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/model/timeline.h"
#include "profshim/event.h"
#include "profshim/trace/schema.h"

namespace profshim {
namespace {

using namespace analysis_detail;

bool is_sure_of_optimizer(const loop::Sequence& sequence, const loop::Finding& finding) {
  constexpr std::size_t kManyCycles = 8;
  if (!finding.chosen || finding.may_be_part || finding.confidence != loop::Confidence::kHigh) return false;
  const loop::Level& level = finding.levels[*finding.chosen];
  return level.cycles >= kManyCycles && sequence.symbols[level.boundary.symbol].kind == loop::CallKind::kOptimizer;
}

/// Looks again after half as many calls more, as the search in the job does. If the whole trace shows no sure loop, an
/// optimizer is enough: a slow start before it does not count.
std::optional<loop::Finding> first_settled(const loop::Sequence& sequence, const loop::Finding& whole) {
  constexpr std::size_t kFirstLook = 64, kLastLook = 50'000;
  const std::size_t most = std::min(sequence.calls.size(), kLastLook);
  for (std::size_t size = kFirstLook; size < most; size += size / 2) {
    const loop::Sequence begin = {sequence.symbols,
                                  {sequence.calls.begin(), sequence.calls.begin() + static_cast<std::ptrdiff_t>(size)}};
    loop::Finding finding = loop::find_loop(begin);
    const std::int64_t elapsed_ns = begin.calls.back().end_ns - begin.calls.front().begin_ns;
    if (loop::is_settled(begin, finding, elapsed_ns, 0)) return finding;
    const bool is_sure = whole.chosen && whole.confidence == loop::Confidence::kHigh;
    if (!is_sure && is_sure_of_optimizer(begin, finding)) return finding;
  }
  return {};
}

class Calls {
 public:
  explicit Calls(const Timeline& timeline) : timeline_(timeline), has_torch_(timeline.dialect != Dialect::kProfshim) {
    for (const Slice& slice : timeline.slices) {
      if (is_device_work(slice.kind) && slice.correlation > 0) launched_[slice.correlation] = slice.name;
      has_torch_ |= timeline.name_of(slice).starts_with("aten::");
    }
  }

  TraceLoop find() {
    TraceLoop found;
    found.path = timeline_.path;
    found.rank = timeline_.rank;
    std::vector<const Slice*> slices = busiest_thread();
    if (!slices.empty()) found.tid = timeline_.tracks[slices.front()->track].tid;
    std::sort(slices.begin(), slices.end(), [](const Slice* a, const Slice* b) {
      return a->end_ns() != b->end_ns() ? a->end_ns() < b->end_ns() : a->begin_ns > b->begin_ns;
    });
    loop::SequenceBuilder builder;
    for (const Slice* slice : slices) add(*slice, builder);
    loop::Sequence sequence = builder.finish();
    found.calls = sequence.calls.size();
    found.finding = loop::find_loop(sequence);
    found.settled = first_settled(sequence, found.finding);
    found.times.resize(sequence.symbols.size());
    for (const loop::Call& call : sequence.calls) ++found.times[call.symbol];
    found.symbols = std::move(sequence.symbols);
    return found;
  }

 private:
  bool is_wanted(const Slice& slice) const {
    if (slice.asynchronous || slice.kind == Kind::kOverhead || !is_host(slice.kind)) return false;
    return !timeline_.name_of(slice).starts_with(schema::name::kStepStart);
  }

  std::vector<const Slice*> busiest_thread() const {
    std::map<std::uint32_t, std::vector<const Slice*>> by_thread;
    for (const Slice& slice : timeline_.slices) {
      if (is_wanted(slice)) by_thread[slice.track].push_back(&slice);
    }
    const auto most = std::max_element(by_thread.begin(), by_thread.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    return most == by_thread.end() ? std::vector<const Slice*>{} : std::move(most->second);
  }

  void add(const Slice& slice, loop::SequenceBuilder& builder) const {
    std::string_view name = timeline_.name_of(slice);
    const HookId hook = hook_by_name(name);
    if (loop::is_poll(name) || name == schema::name::kMpiPolling || begins_or_ends_mpi(hook)) return;
    loop::CallKind kind = loop::CallKind::kOther;
    std::int64_t peer = -1;
    if (slice.kind == Kind::kUserAnnotation) {
      kind = loop::kind_of_torch_range(name);
      if (kind == loop::CallKind::kTorchRange && !has_torch_) kind = loop::CallKind::kNvtxRange;
    } else if (slice.kind == Kind::kRuntime || slice.kind == Kind::kDriver) {
      if (const auto work = launched_.find(slice.correlation); work != launched_.end()) {
        name = timeline_.texts[work->second];
        kind = loop::CallKind::kLaunch;
      }
    } else if (slice.communication != kNone || peer_kind(hook) != PeerKind::kNone) {
      if (slice.communication != kNone) peer = timeline_.communications[slice.communication].peer;
      const bool is_message = peer >= 0 || (peer_kind(hook) != PeerKind::kNone && peer_kind(hook) != PeerKind::kRoot);
      kind = is_message ? loop::CallKind::kMessage : loop::CallKind::kCollective;
    } else if (slice.kind == Kind::kCpuOp && hook == HookId::kNone) {
      kind = loop::CallKind::kOperator;
    }
    builder.add(kind, name, peer, slice.begin_ns, slice.end_ns());
  }

  const Timeline& timeline_;
  bool has_torch_ = false;                             // else a range is NVTX's: both have one category
  std::unordered_map<std::int64_t, TextId> launched_;  // kernels and copies by correlation
};

}  // namespace

std::vector<StepMarker> markers_of(const TraceLoop& found, const loop::Level& level) {
  std::vector<StepMarker> markers;
  const auto add = [&](const loop::Boundary& boundary) {
    const loop::Symbol& symbol = found.symbols[boundary.symbol];
    if (boundary.previous || loop::source_of(symbol).empty()) return;
    markers.push_back({std::string(loop::source_of(symbol)), pattern_of(symbol), boundary.at_end, boundary.every});
  };
  add(level.boundary);
  for (const loop::Boundary& other : level.others) add(other);
  return markers;
}

std::vector<TraceLoop> loops_of_trace(const std::string& path) {
  std::vector<TraceLoop> loops;
  for (const Timeline& timeline : load_timelines(path)) loops.push_back(Calls(timeline).find());
  return loops;
}

}  // namespace profshim
