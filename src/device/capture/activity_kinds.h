#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture_request.h"
#include "device/cupti/activity_scope.h"

namespace profshim::device {

class ActivityKinds {
 public:
  explicit ActivityKinds(const ActivityScope& scope) : scope_(scope) {}

  /// Returns the CUptiResult for kernels. On failure no kind is on. Kinds are enabled as a whole: while a call is
  /// deselected, the thread inside it would give all its later calls one correlation id.
  int enable(const CaptureOptions& options);
  void disable();
  bool any_enabled() const { return !enabled_.empty(); }
  /// Does not call CUPTI, since another client now owns the kinds.
  void forget();

  /// True if CUPTI reports streams older than enable().
  bool streams_are_dumped() const { return streams_are_dumped_; }
  /// Text for users: "copies, calls of the driver".
  const std::string& not_recorded() const { return not_recorded_; }

 private:
  void enable_and_dump_existing();
  std::vector<std::uint32_t> other_kinds(const CaptureOptions& options);

  const ActivityScope& scope_;
  std::vector<std::uint32_t> enabled_;
  bool streams_are_dumped_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
