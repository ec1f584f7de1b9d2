// CaptureOptions: how a Capture records. Fixed for the life of the process.
#pragma once

#include <cstddef>
#include <string>

namespace profshim::device {

struct CaptureOptions {
  std::size_t buffers = 16;
  std::size_t buffer_bytes = 1 << 20;
  std::size_t table_bytes = 16 << 20;  // of memory that is kept between records
  bool whole_graphs = false;           // one record for each graph launch instead of one for each node
  bool memory = false;                 // record allocations and releases
  bool synchronization = false;        // record waits of the host and of streams
  bool external = false;               // external correlation ids are pushed around launches
  bool own_clock = true;               // CUPTI may be given our clock
  std::string dump_folder;             // raw buffers are also written here; "" = nowhere
};

}  // namespace profshim::device
