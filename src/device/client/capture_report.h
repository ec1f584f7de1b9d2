#pragma once

#include <string>

#include "device/capture/capture.h"

namespace profshim::device {

/// Each function writes changes since its last call into the spool.
class CaptureReport {
 public:
  void write_versions(Capture& capture);
  void write_losses(Capture& capture);
  void write_not_recorded(const Capture& capture);

 private:
  Losses losses_;
  BufferPool::Counts counts_;
  std::uint64_t unknown_threads_ = 0;
  bool versions_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
