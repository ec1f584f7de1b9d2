// Ranges of the job's threads as a device saw them, which Kineto calls gpu_user_annotation: for each range and stream
// one span, from the first to the last piece of work that was launched inside the range.
//
// Steps are not among them: a reader that finds a ProfilerStep on a device as well counts every step twice
// (torch_tb_profiler). Kineto makes its spans a nanosecond longer at each end, since they come last in its files; here
// they stand before their work, and spans of work that follows without a gap do not overlap.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "work.h"

namespace profshim::kineto {

class DeviceAnnotations {
 public:
  explicit DeviceAnnotations(const spool::View& view) : view_(view) {}
  /// The events of one thread in order (begin, longest first).
  void add_thread(std::span<const Event* const> events, const LaunchIndex& launches);
  /// After the last thread. "External id" of the ranges count up from `first_id`.
  void finish(const DeviceWork& work, std::uint64_t first_id);

  struct Span {
    Ticks begin = 0, end = 0;  // end 0: nothing
    const Event* range = nullptr;
  };
  /// How many ids there are.
  std::uint64_t ranges() const { return ranges_.size(); }
  /// In order (begin, longest first).
  std::span<const Span> on(DeviceWork::StreamKey stream) const {
    const auto at = spans_.find(stream);
    return at == spans_.end() ? std::span<const Span>{} : at->second;
  }
  /// Joins a range to its spans; 0 = it launched nothing.
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
  std::vector<Range> ranges_;             // an outer one before those inside it
  std::vector<std::uint32_t> innermost_;  // range + 1 of a call, by its position in the launch index
  std::map<DeviceWork::StreamKey, std::vector<Span>> spans_;
  std::unordered_map<const Event*, std::uint64_t> ids_;
};

}  // namespace profshim::kineto
