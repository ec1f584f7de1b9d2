#include "active_time.h"

#include "analysis/model/activity_names.h"

namespace profshim::analysis_detail {

void ActiveTime::append(const ActiveTime& more) {
  busy.insert(busy.end(), more.busy.begin(), more.busy.end());
  compute.insert(compute.end(), more.compute.begin(), more.compute.end());
  communication.insert(communication.end(), more.communication.begin(), more.communication.end());
}

void ActiveTime::merge() {
  busy = merged(std::move(busy));
  compute = merged(std::move(compute));
  communication = merged(std::move(communication));
}

ActiveTime ActiveTime::part_between(std::int64_t begin_ns, std::int64_t end_ns) const {
  return {clipped(busy, begin_ns, end_ns), clipped(compute, begin_ns, end_ns),
          clipped(communication, begin_ns, end_ns)};
}

double ActiveTime::exposed_communication_ns() const { return covered(communication) - common(communication, compute); }

std::map<std::int64_t, ActiveTime> device_activity(const Timeline& timeline) {
  const std::vector<bool> is_collective = matching_texts(timeline.texts, is_collective_kernel);
  std::map<std::int64_t, ActiveTime> devices;
  for (const Slice& s : timeline.slices) {
    if (!is_device_work(s.kind)) continue;
    ActiveTime& device = devices[timeline.tracks[s.track].pid];
    const Interval interval{s.begin_ns, s.end_ns()};
    device.busy.push_back(interval);
    if (s.kind != Kind::kKernel) continue;
    const bool communicates = s.communication != kNone || is_collective[s.name];
    (communicates ? device.communication : device.compute).push_back(interval);
  }
  return devices;
}

}  // namespace profshim::analysis_detail
