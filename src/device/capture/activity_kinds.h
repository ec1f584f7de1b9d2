// ActivityKinds: switches the kinds of records and the API calls on that a recording needs, and off again. Device
// thread.
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

  /// Enables all kinds that `options` ask for. Returns the CUptiResult for kernels: unless that is kSuccess, no other
  /// kind has been enabled. Kinds that CUPTI refuses beside the kernels are listed in not_recorded().
  int enable(const CaptureOptions& options);
  /// Disables all that enable() has enabled.
  void disable();
  /// Like disable(), without a call of CUPTI: what is on belongs to another client.
  void forget();

  /// Returns true if CUPTI writes a record of each stream, also of those that existed before enable().
  bool streams_are_dumped() const { return streams_are_dumped_; }
  /// Returns the kinds that CUPTI refused in the last enable(), for users: "copies, calls of the driver".
  const std::string& not_recorded() const { return not_recorded_; }

 private:
  void enable_and_dump_existing();
  void enable_calls(bool runtime);
  std::vector<std::uint32_t> optional_kinds(const CaptureOptions& options);

  const ActivityScope& scope_;
  const ApiNames& names_;
  std::vector<std::uint32_t> enabled_;           // kinds
  std::vector<std::uint32_t> enabled_calls_[2];  // callback ids of the driver API and of the runtime API
  bool streams_are_dumped_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
