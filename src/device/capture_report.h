// CaptureReport: the facts and problems about the GPU recording that the traces state. Device thread.
#pragma once

#include <string>
#include <string_view>

#include "device/capture/capture.h"

namespace profshim::device {

/// Writes a member of the "profshim" object of the traces; `json` is its value. The last write of a key wins.
void write_fact(std::string_view key, const std::string& json);

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
