// CaptureRequest: the state that the rest of the process wants a Capture to be in.
#pragma once

#include "device/cupti/api.h"
#include "profshim/base/clock.h"

namespace profshim::device {

struct CaptureRequest {
  bool on = false;
  Ticks off_at = 0;                           // unless `on`: launches before this are still wanted
  Ticks settle_before = 0;                    // a thread waits for the device activity of launches before this
  bool yield = false;                         // another client uses CUPTI
  bool yielded_too_late = false;              // and it began before we had let go: CUPTI must not be called any more
  TimestampCallback foreign_clock = nullptr;  // the timestamp callback of another client, which CUPTI uses
  bool finish = false;                        // the process ends
  bool abrupt = false;                        // finish without waiting for activity that still runs
};

}  // namespace profshim::device
