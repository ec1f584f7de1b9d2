// Facts and problems that the traces state about the recording of the GPU, beside its events. Device thread.
#pragma once

#include <string>
#include <string_view>

#include "device/capture/capture.h"

namespace profshim::device {

/// A fact of the "profshim" object of the trace; `json` is its value. The newest of a key counts.
void say_fact(std::string_view key, const std::string& json);

class Said {
 public:
  /// Versions and clock, once.
  void versions(Capture& capture);
  /// Losses by reason, when they have changed.
  void losses(Capture& capture);
  /// Kinds that CUPTI refused to record beside the kernels, when they have changed.
  void not_recorded(const Capture& capture);

 private:
  Losses losses_;
  BufferPool::Counts counts_;
  std::uint64_t of_unknown_threads_ = 0;
  bool versions_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
