#pragma once

#include <cstddef>
#include <string>

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

}  // namespace profshim::device
