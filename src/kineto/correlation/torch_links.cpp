#include "torch_links.h"

#include <algorithm>

namespace profshim::kineto {

void TorchLinks::add_thread(std::span<const Event* const> events, const LaunchIndex& launches) {
  struct Open {
    Ticks end;
    std::uint32_t op;
  };
  std::vector<Open> open;
  std::uint32_t hint = 0;
  ++threads_;
  for (const Event* const event : events) {
    while (!open.empty() && open.back().end <= event->begin) open.pop_back();
    if (is_torch_op(*event)) {
      open.push_back({event->end, ops_++});
      if (event->torch.sequence == kNoSequence) continue;
      if (event->hook == HookId::kTorchBackward) {
        backward_.push_back(event);
      } else {
        forward_.push_back({event, threads_});
      }
    } else if (event->hook == HookId::kCudaApi && !open.empty()) {
      const std::uint32_t at = launches.find(event->api.correlation, hint);
      if (at == LaunchIndex::kNotFound) continue;
      if (innermost_.empty()) innermost_.resize(launches.size());
      innermost_[at] = open.back().op + 1;
    }
  }
}

// As in PyTorch, joins the last operator with the same sequence number that ended before `backward`. Operators that
// enclose `backward` belong to the autograd engine.
void TorchLinks::join(const Event& backward) {
  const std::int64_t sequence = backward.torch.sequence;
  auto at = std::partition_point(forward_.begin(), forward_.end(),
                                 [=](const Numbered& n) { return n.event->torch.sequence < sequence; });
  const Numbered* last = nullptr;
  bool several_threads = false;
  for (; at != forward_.end() && at->event->torch.sequence == sequence; ++at) {
    if (at->event->end > backward.begin) continue;
    several_threads = several_threads || (last != nullptr && last->thread != at->thread);
    last = &*at;
  }
  if (last == nullptr || several_threads) return;  // ambiguous: each thread numbers separately
  const std::uint64_t number = starts_.size() + 1;
  starts_.push_back({last->event, number});
  ends_.push_back({&backward, number});
}

void TorchLinks::finish(std::uint64_t first_id) {
  first_id_ = first_id;
  std::sort(forward_.begin(), forward_.end(), [](const Numbered& a, const Numbered& b) {
    const std::int64_t x = a.event->torch.sequence, y = b.event->torch.sequence;
    return x != y ? x < y : a.event->begin < b.event->begin;
  });
  for (const Event* const backward : backward_) join(*backward);
  std::stable_sort(starts_.begin(), starts_.end(), by_event);
  std::stable_sort(ends_.begin(), ends_.end(), by_event);
  forward_ = {};
  backward_ = {};
}

}  // namespace profshim::kineto
