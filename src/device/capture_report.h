// CaptureReport: the metadata and problems of the GPU recording in the traces. Device thread.
#pragma once

#include <string>

#include "device/capture/capture.h"

namespace profshim::device {

class CaptureReport {
 public:
  /// Writes the versions of CUPTI and CUDA and the clock, once.
  void write_versions(Capture& capture);
  /// Writes the losses by reason, if they have changed.
  void write_losses(Capture& capture);
  /// Writes the kinds that CUPTI refused to record, if they have changed.
  void write_not_recorded(const Capture& capture);

 private:
  Losses losses_;
  BufferPool::Counts counts_;
  std::uint64_t unknown_threads_ = 0;  // calls of them
  bool versions_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
