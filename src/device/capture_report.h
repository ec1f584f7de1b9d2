// Metadata and problems of the GPU recording. Device thread.
#pragma once

#include <string>

#include "device/capture/capture.h"

namespace profshim::device {

class CaptureReport {
 public:
  /// Once.
  void write_versions(Capture& capture);
  /// If changed.
  void write_losses(Capture& capture);
  /// If changed.
  void write_not_recorded(const Capture& capture);

 private:
  Losses losses_;
  BufferPool::Counts counts_;
  std::uint64_t unknown_threads_ = 0;
  bool versions_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
