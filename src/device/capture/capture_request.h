// The state into which Capture::serve() brings CUPTI.
#pragma once

#include "device/cupti/api.h"
#include "profshim/base/clock.h"

namespace profshim::device {

struct CaptureRequest {
  bool on = false;
  Ticks off_at = 0;         // if off: activity launched before this is wanted
  Ticks settle_before = 0;  // a window waits for activity launched before this
  bool yield = false;
  bool yielded_too_late = false;              // the other client began before we stopped: call no CUPTI
  TimestampCallback foreign_clock = nullptr;  // another client's
  bool finish = false;
  bool abrupt = false;  // do not wait for running activity
};

}  // namespace profshim::device
