// Makes Kineto's gpu_user_annotation: per range and stream, one span around the activity launched in the range.
//
// Steps have no span: torch_tb_profiler would count steps twice. Spans are written before their activity; Kineto
// widens them by 1 ns instead.
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
  /// `events`: sorted by begin, longest first.
  void add_thread(std::span<const Event* const> events, const LaunchIndex& launches);
  /// The ranges' external ids count up from `first_id`.
  void finish(const DeviceActivity& activity, std::uint64_t first_id);

  struct Span {
    Ticks begin = 0, end = 0;  // end 0 = empty
    const Event* range = nullptr;
  };
  std::uint64_t ranges() const { return ranges_.size(); }
  /// Returns spans sorted by begin, longest first.
  std::span<const Span> spans_on(DeviceActivity::StreamKey stream) const {
    const auto at = spans_.find(stream);
    return at == spans_.end() ? std::span<const Span>{} : at->second;
  }
  /// Returns 0 if the range launched nothing.
  std::uint64_t external_id(const Event& range) const {
    const auto at = ids_.find(&range);
    return at == ids_.end() ? 0 : at->second;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Range {
    const Event* event;
    std::uint32_t outer;
  };
  bool is_range(const Event& event) const;
  void extend(Span& span, Ticks begin, Ticks end) const;

  const spool::View& view_;
  std::vector<Range> ranges_;             // outer before inner
  std::vector<std::uint32_t> innermost_;  // per call of LaunchIndex: index in ranges_ + 1; 0 = none
  std::map<DeviceActivity::StreamKey, std::vector<Span>> spans_;
  std::unordered_map<const Event*, std::uint64_t> ids_;
};

}  // namespace profshim::kineto
