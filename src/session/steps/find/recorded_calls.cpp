#include "recorded_calls.h"

#include <algorithm>
#include <map>
#include <vector>

namespace profshim::session {
namespace {

using loop::CallKind;

class Reader {
 public:
  Reader(const spool::View& view, Ticks since)
      : view_(view), since_(since), ns_per_tick_(1 / ClockMap(view.anchors(), view.header().clock).ticks_per_ns()) {}

  RecordedCalls read() {
    std::map<std::int32_t, std::vector<spool::Run>> runs;
    view_.for_each_run([&](const spool::Run& run) { runs[run.header->tid].push_back(run); });
    runs.erase(spool::kDeviceTid);
    RecordedCalls best;
    std::pair<std::size_t, std::size_t> most;
    for (auto& [tid, of_thread] : runs) {
      std::sort(of_thread.begin(), of_thread.end(),
                [](const spool::Run& a, const spool::Run& b) { return a.header->sequence < b.header->sequence; });
      RecordedCalls calls = read_thread(tid, of_thread);
      const std::pair size(optimizers_in(calls.sequence), calls.sequence.calls.size());
      if (size <= most) continue;
      most = size;
      best = std::move(calls);
    }
    return best;
  }

 private:
  RecordedCalls read_thread(std::int32_t tid, const std::vector<spool::Run>& runs) {
    loop::SequenceBuilder builder;
    for (const spool::Run& run : runs) {
      for (std::uint32_t i = 0; i < run.count; ++i) {
        if (run.events[i].begin >= since_) add(run.events[i], builder);
      }
    }
    RecordedCalls calls;
    calls.tid = tid;
    calls.sequence = builder.finish();
    if (!calls.sequence.calls.empty()) calls.elapsed_ns = ns_of(ticks()) - calls.sequence.calls.front().begin_ns;
    return calls;
  }

  void add(const Event& event, loop::SequenceBuilder& builder) const {
    if ((event.flags & (kAsyncSlice | kStartEnd)) != 0 || begins_or_ends_mpi(event.hook)) return;
    const auto add_as = [&](CallKind kind, std::string_view name, std::int64_t peer = -1) {
      if (!name.empty()) builder.add(kind, name, peer, ns_of(event.begin), ns_of(event.end));
    };
    switch (event.hook) {
      case HookId::kTorchOperator:
        return add_as(CallKind::kOperator, view_.string(event.name));
      case HookId::kTorchBackward:
      case HookId::kTorchScript:
        return add_as(CallKind::kOther, view_.string(event.name));
      case HookId::kTorchRange:
        return add_as(loop::kind_of_torch_range(view_.string(event.name)), view_.string(event.name));
      case HookId::kNvtxRange:
        return add_as(CallKind::kNvtxRange, view_.string(event.name));
      default:
        break;
    }
    const auto [sequence, peer] = hook_layer(event.hook) == Layer::kMpi
                                      ? std::pair(event.mpi.sequence, event.mpi.peer)
                                      : std::pair(event.nccl.sequence, event.nccl.peer);
    switch (hook_layer(event.hook)) {
      case Layer::kMpi:
      case Layer::kNccl:
        if (sequence != 0) return add_as(CallKind::kCollective, hook_name(event.hook));
        if (peer != kNone32) return add_as(CallKind::kMessage, hook_name(event.hook), peer);
        return add_as(CallKind::kOther, hook_name(event.hook));
      case Layer::kCuda:
        return add_as(CallKind::kOther, hook_name(event.hook));
      default:
        return;
    }
  }

  static std::size_t optimizers_in(const loop::Sequence& sequence) {
    return static_cast<std::size_t>(std::count_if(
        sequence.calls.begin(), sequence.calls.end(),
        [&](const loop::Call& call) { return sequence.symbols[call.symbol].kind == CallKind::kOptimizer; }));
  }

  std::int64_t ns_of(Ticks at) const {
    return static_cast<std::int64_t>(static_cast<double>(at - since_) * ns_per_tick_);
  }

  const spool::View& view_;
  const Ticks since_;
  const double ns_per_tick_;
};

}  // namespace

RecordedCalls read_calls(const spool::View& view, Ticks since) { return Reader(view, since).read(); }

}  // namespace profshim::session
