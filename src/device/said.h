// What the traces say of the recording of the GPU beside its events: facts and problems. Device thread.
#pragma once

#include <string>
#include <string_view>

#include "capture.h"

namespace profshim::device {

/// A fact of the "profshim" object of the trace; `json` is its value. The newest of a key counts.
void say_fact(std::string_view key, const std::string& json);

class Said {
 public:
  /// Versions and clock, once.
  void versions(Capture& capture);
  /// What is not in the trace, by reason, when it has changed.
  void losses(Capture& capture);
  /// What CUPTI would not record beside the kernels, when it has changed.
  void not_recorded(const Capture& capture);

 private:
  Losses losses_;
  BufferPool::Counts counts_;
  bool versions_ = false;
  std::string not_recorded_;
};

}  // namespace profshim::device
