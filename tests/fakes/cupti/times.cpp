#include <algorithm>
#include <tuple>
#include <utility>

#include "fakes/cupti/client.h"

namespace fake::cupti {

std::pair<std::uint64_t, std::uint64_t> Client::anchor() const {
  constexpr std::uint64_t kCloseNs = 2000;
  for (int i = 0;; ++i) {
    const std::uint64_t before = realtime(), at = now(), after = realtime();
    if (after - before < kCloseNs || i == 20) return {at, before + (after - before) / 2};
  }
}

void Client::anchor(Work& work) const { std::tie(work.anchor, work.anchor_realtime) = anchor(); }

void Client::keep_order(const Work& work, std::uint64_t& start, std::uint64_t& end) {
  const std::lock_guard lock(order_lock_);
  LastEnd& last = last_of_stream_[{work.context, work.stream}];
  if (work.start >= last.end && start < last.client_end) {
    end += last.client_end - start;
    start = last.client_end;
  }
  last = {work.end, end};
}

std::uint64_t Client::device_time(std::uint64_t time, std::uint64_t at, std::uint64_t at_realtime) const {
  if (!timestamp_) return time;
  const auto ticks = static_cast<double>(at - clock_anchor_);
  const auto ns = static_cast<double>(std::max<std::uint64_t>(at_realtime - realtime_anchor_, 1));
  const auto distance = static_cast<double>(static_cast<std::int64_t>(time - at_realtime));
  return at + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance * (ticks / ns)));
}

Times Client::times_of(const Work& work, std::uint64_t number) {
  if (spoiled_ > 0) {
    --spoiled_;
    const std::uint64_t apart = options_.head_clock == 2 ? realtime() - monotonic() : 0;
    return {work.start - apart, work.end - apart};
  }
  std::uint64_t start = device_time(work.start, work.anchor, work.anchor_realtime);
  std::uint64_t end = device_time(work.end, work.anchor, work.anchor_realtime);
  if (options_.pool != 0 && work.graph != 0) {
    const std::uint64_t kernels = ++graph_kernels_;
    if (kernels > options_.pool) return kernels == options_.pool + 1 ? Times{end, start} : Times{0, 0};
  }
  if (work.kind != WorkKind::kGraph) keep_order(work, start, end);
  if (fault(options_.zero_time, number)) start = end = 0;
  if (fault(options_.backward, number)) std::swap(start, end);
  if (fault(options_.far, number)) {
    start = device_time(work.start - 3600000000000ull, work.anchor, work.anchor_realtime);
    end = start + 1000;
  }
  return {start, end};
}

}  // namespace fake::cupti
