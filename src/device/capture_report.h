// Writes metadata and problems of the GPU recording. Device thread.
#pragma once

#include <string>

#include "device/capture/capture.h"

namespace profshim::device {

class CaptureReport {
 public:
  /// Writes once.
  void write_versions(Capture& capture);
  /// Writes if changed.
  void write_losses(Capture& capture);
  /// Writes if changed.
  void write_not_recorded(const Capture& capture);

 private:
  Losses losses_;
  BufferPool::Counts counts_;
  std::uint64_t unknown_threads_ = 0;
  bool versions_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
