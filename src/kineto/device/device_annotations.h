// Ranges of the job's threads on a device, Kineto's gpu_user_annotation: for each range and stream one span, from the
// first to the last device activity that was launched inside the range.
//
// Steps are left out: torch_tb_profiler counts a step twice if it finds a ProfilerStep on a device too. Kineto makes
// its spans a nanosecond longer at each end, since they come last in its files. Ours come before their activity and
// keep their length, so that spans of adjacent activity do not overlap.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "device_activity.h"

namespace profshim::kineto {

class DeviceAnnotations {
 public:
  explicit DeviceAnnotations(const spool::View& view) : view_(view) {}
  /// Takes the events of one thread in order (begin, longest first).
  void add_thread(std::span<const Event* const> events, const LaunchIndex& launches);
  /// Call it after the last thread. The ranges get the "External id" `first_id`, `first_id` + 1, ...
  void finish(const DeviceActivity& activity, std::uint64_t first_id);

  struct Span {
    Ticks begin = 0, end = 0;  // end 0: empty
    const Event* range = nullptr;
  };
  /// Returns the number of ids that are taken.
  std::uint64_t ranges() const { return ranges_.size(); }
  /// Returns the spans of a stream in order (begin, longest first).
  std::span<const Span> on(DeviceActivity::StreamKey stream) const {
    const auto at = spans_.find(stream);
    return at == spans_.end() ? std::span<const Span>{} : at->second;
  }
  /// Returns the id that joins a range to its spans; 0 = it launched nothing.
  std::uint64_t external_id(const Event& range) const {
    const auto at = ids_.find(&range);
    return at == ids_.end() ? 0 : at->second;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Range {
    const Event* event;
    std::uint32_t outer;  // index of the range around it, or kNone
  };
  bool is_range(const Event& event) const;
  void extend(Span& span, Ticks begin, Ticks end) const;

  const spool::View& view_;
  std::vector<Range> ranges_;             // outer ranges before inner ones
  std::vector<std::uint32_t> innermost_;  // by position of the call in the launch index: range + 1
  std::map<DeviceActivity::StreamKey, std::vector<Span>> spans_;
  std::unordered_map<const Event*, std::uint64_t> ids_;
};

}  // namespace profshim::kineto
