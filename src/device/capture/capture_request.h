#pragma once

#include <cstddef>
#include <string>

#include "device/cupti/api.h"
#include "profshim/base/clock.h"

namespace profshim::device {

struct CaptureOptions {
  std::size_t buffers = 16;
  std::size_t buffer_bytes = 1 << 20;
  std::size_t table_bytes = 16 << 20;  // limit of Converter's tables
  bool whole_graphs = false;           // one record per graph launch, not per node
  bool memory = false;                 // CUDA allocations and releases
  bool synchronization = false;        // waits of host and streams
  bool external = false;               // NCCL's external correlation ids
  bool own_clock = true;               // may register ticks() with CUPTI
  std::string dump_folder;             // for raw buffers; "" = no dump
};

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
