#pragma once

#include "profshim/recorder_control.h"

namespace profshim::session {

/// Commits the samples of one thread of ours.
class SampleBlock {
 public:
  /// All later samples have this time.
  void set_time(Ticks at) { at_ = at; }
  void add(SystemCounter counter, double value, std::uint16_t device = 0) {
    if (block_ == nullptr) block_ = recorder::system_block();
    if (block_ == nullptr || !recorder::mode_has(recorder::kArmed)) return;
    Event e;
    e.begin = e.end = at_;
    e.hook = HookId::kSystemSample;
    e.system = {.value = value, .counter = counter, .device = device, .reserved = {}};
    recorder::commit(*block_, e);
  }

 private:
  spool::Thread* block_ = nullptr;
  Ticks at_ = 0;
};

}  // namespace profshim::session
