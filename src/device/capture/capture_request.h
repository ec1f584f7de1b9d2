// The state that the process wants of a Capture.
#pragma once

#include "device/cupti/api.h"
#include "profshim/base/clock.h"

namespace profshim::device {

struct CaptureRequest {
  bool on = false;
  Ticks off_at = 0;                           // if off: launches before this are wanted
  Ticks settle_before = 0;                    // a thread waits for activity launched before this
  bool yield = false;                         // to another client
  bool yielded_too_late = false;              // it began before we let go: never call CUPTI
  TimestampCallback foreign_clock = nullptr;  // another client's
  bool finish = false;
  bool abrupt = false;  // do not wait for running activity
};

}  // namespace profshim::device
