#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture_options.h"
#include "device/cupti/activity_scope.h"
#include "device/cupti/api_names.h"

namespace profshim::device {

class ActivityKinds {
 public:
  ActivityKinds(const ActivityScope& scope, const ApiNames& names) : scope_(scope), names_(names) {}

  /// Returns the CUptiResult for kernels. On failure no kind is on. Kernels may be on already.
  int enable(const CaptureOptions& options);
  void disable();
  void disable_all_but_kernels();
  bool any_enabled() const { return !enabled_.empty(); }
  /// Does not call CUPTI, since another client now owns the kinds.
  void forget();

  /// True if CUPTI reports streams older than enable().
  bool streams_are_dumped() const { return streams_are_dumped_; }
  /// Text for users: "copies, calls of the driver".
  const std::string& not_recorded() const { return not_recorded_; }

 private:
  void enable_and_dump_existing();
  void enable_calls(bool runtime);
  std::vector<std::uint32_t> optional_kinds(const CaptureOptions& options);

  const ActivityScope& scope_;
  const ApiNames& names_;
  std::vector<std::uint32_t> enabled_;  // kernels come first
  bool streams_are_dumped_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
