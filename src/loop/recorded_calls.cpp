#include <algorithm>
#include <map>
#include <vector>

#include "profshim/loop.h"
#include "profshim/spool/view.h"

namespace profshim::loop {
namespace {

class Reader {
 public:
  Reader(const spool::View& view, Ticks since, bool only_torch)
      : view_(view),
        since_(since),
        only_torch_(only_torch),
        ns_per_tick_(1 / ClockMap(view.anchors(), view.header().clock).ticks_per_ns()) {}

  RecordedCalls read() {
    std::map<std::int32_t, std::vector<spool::Run>> runs;
    view_.for_each_run([&](const spool::Run& run) { runs[run.header->tid].push_back(run); });
    runs.erase(spool::kDeviceTid);
    runs.erase(spool::kSystemTid);
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
    SequenceBuilder builder;
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

  void add(const Event& event, SequenceBuilder& builder) const {
    if ((event.flags & (kAsyncSlice | kStartEnd)) != 0 || begins_or_ends_mpi(event.hook)) return;
    if (only_torch_ && hook_layer(event.hook) != Layer::kTorch) return;
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
        return add_as(kind_of_torch_range(view_.string(event.name)), view_.string(event.name));
      case HookId::kNvtxRange:
        return add_as(CallKind::kNvtxRange, view_.string(event.name));
      default:
        break;
    }
    const bool mpi = hook_layer(event.hook) == Layer::kMpi;
    if (mpi || hook_layer(event.hook) == Layer::kNccl) {
      const std::string_view name = hook_name(event.hook);
      const std::uint32_t sequence = mpi ? event.mpi.sequence : event.nccl.sequence;
      const std::int32_t peer = mpi ? event.mpi.peer : event.nccl.peer;
      if (is_poll(name)) return;
      if (sequence != 0) return add_as(CallKind::kCollective, name);
      // MPI_PROC_NULL and MPI_ANY_SOURCE are no peers.
      if (peer_kind(event.hook) != PeerKind::kNone || peer != kNone32)
        return add_as(CallKind::kMessage, name, std::max(peer, -1));
      return add_as(CallKind::kOther, name);
    }
    if (hook_layer(event.hook) == Layer::kCuda) add_as(CallKind::kOther, hook_name(event.hook));
  }

  static std::size_t optimizers_in(const Sequence& sequence) {
    return static_cast<std::size_t>(std::count_if(sequence.calls.begin(), sequence.calls.end(), [&](const Call& call) {
      return sequence.symbols[call.symbol].kind == CallKind::kOptimizer;
    }));
  }

  std::int64_t ns_of(Ticks at) const {
    return static_cast<std::int64_t>(static_cast<double>(at - since_) * ns_per_tick_);
  }

  const spool::View& view_;
  const Ticks since_;
  const bool only_torch_;
  const double ns_per_tick_;
};

}  // namespace

RecordedCalls read_calls(const spool::View& view, Ticks since, bool only_torch) {
  return Reader(view, since, only_torch).read();
}

}  // namespace profshim::loop
