#pragma once

#include "device/cupti/api.h"
#include "profshim/base/clock.h"

namespace profshim::device {

/// The state into which Capture::serve() brings CUPTI.
struct CaptureRequest {
  bool on = false;
  bool again = false;                         // valid if not `on`: a later window may come
  Ticks off_at = 0;                           // valid if not `on`: activity launched before this time is wanted
  Ticks settle_before = 0;                    // a window waits for activity launched before this time
  bool yield = false;                         // another client uses CUPTI
  bool yielded_too_late = false;              // the other client began before we stopped: do not call CUPTI
  TimestampCallback foreign_clock = nullptr;  // another client's
  bool finish = false;
  bool abrupt = false;  // do not wait for running activity
};

}  // namespace profshim::device
