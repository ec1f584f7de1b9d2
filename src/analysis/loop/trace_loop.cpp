#include "profshim/analysis/trace_loop.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/model/timeline.h"
#include "trace/schema.h"

namespace profshim {
namespace {

using namespace analysis_detail;

/// Replaces each number by "*", so that "iteration 12" and "iteration 13" are one symbol.
std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      text += c;
    } else if (!text.ends_with('*')) {
      text += '*';
    }
  }
  return text;
}

/// A rank with more peers, such as a master, treats all alike.
constexpr std::size_t kFewPeers = 4;

class Calls {
 public:
  explicit Calls(const Timeline& timeline) : timeline_(timeline) {
    for (const Slice& slice : timeline.slices) {
      if (is_device_work(slice.kind) && slice.correlation > 0) launched_[slice.correlation] = slice.name;
    }
  }

  TraceLoop find() {
    TraceLoop found;
    found.path = timeline_.path;
    found.rank = timeline_.rank;
    std::vector<const Slice*> slices = busiest_thread();
    if (!slices.empty()) found.tid = timeline_.tracks[slices.front()->track].tid;
    std::stable_sort(slices.begin(), slices.end(), [](const Slice* a, const Slice* b) {
      return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->duration_ns > b->duration_ns;
    });
    note_peers(slices);
    std::int64_t end_ns = INT64_MIN;
    for (const Slice* slice : slices) {
      if (slice->kind != Kind::kUserAnnotation) {
        if (slice->begin_ns < end_ns) continue;  // nested in another call
        end_ns = slice->end_ns();
      }
      calls_.push_back({symbol_of(*slice), slice->begin_ns, slice->end_ns()});
    }
    found.calls = calls_.size();
    found.finding = loop::find_loop(symbols_, calls_);
    found.symbols = std::move(symbols_);
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

  void note_peers(const std::vector<const Slice*>& slices) {
    for (const Slice* slice : slices) {
      if (slice->communication != kNone)
        peers_[slice->name].insert(timeline_.communications[slice->communication].peer);
    }
  }

  std::uint32_t symbol_of(const Slice& slice) {
    loop::Symbol symbol{loop::CallKind::kOperator, std::string(timeline_.name_of(slice))};
    if (slice.kind == Kind::kUserAnnotation) {
      symbol.name = without_numbers(symbol.name);
      symbol.kind = symbol.name.starts_with("Optimizer.step#") ? loop::CallKind::kOptimizer
                    : symbol.name.ends_with(".forward")        ? loop::CallKind::kForward
                                                               : loop::CallKind::kRange;
    } else if (slice.kind == Kind::kRuntime || slice.kind == Kind::kDriver) {
      symbol.kind = loop::CallKind::kLaunch;
      if (const auto work = launched_.find(slice.correlation); work != launched_.end())
        symbol.name = timeline_.texts[work->second];
    } else if (slice.communication != kNone) {
      const Communication& communication = timeline_.communications[slice.communication];
      symbol.kind = communication.peer >= 0 ? loop::CallKind::kMessage : loop::CallKind::kCollective;
      if (peers_[slice.name].size() <= kFewPeers) symbol.peer = communication.peer;
    }
    const auto [at, is_new] = ids_.emplace(std::pair(symbol.name, symbol.peer), symbols_.size());
    if (is_new) symbols_.push_back(std::move(symbol));
    return static_cast<std::uint32_t>(at->second);
  }

  const Timeline& timeline_;
  std::unordered_map<std::int64_t, TextId> launched_;  // kernels and copies by correlation
  std::map<TextId, std::set<std::int64_t>> peers_;     // by function
  std::map<std::pair<std::string, std::int64_t>, std::size_t> ids_;
  std::vector<loop::Symbol> symbols_;
  std::vector<loop::Call> calls_;
};

}  // namespace

std::vector<TraceLoop> loops_of_trace(const std::string& path) {
  std::vector<TraceLoop> loops;
  for (const Timeline& timeline : load_timelines(path)) loops.push_back(Calls(timeline).find());
  return loops;
}

}  // namespace profshim
