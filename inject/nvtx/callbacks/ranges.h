// A range that begins outside windows is never recorded, unless it makes a phase. A placeholder (open call with hook
// kNone) stands for the range, so that its pop does not end a recorded range.
#pragma once

#include <cstddef>
#include <string_view>

#include "inject/nvtx/handles.h"
#include "inject/start_gate.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::nvtx {

struct Annotation {
  std::string_view text;         // the message, if c_text and string are null
  const char* c_text = nullptr;  // zero-terminated message
  RegisteredString* string = nullptr;
  std::uint64_t payload = 0;
  std::uint8_t payload_type = 0;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  const nvtxPayloadData_t* extended = nullptr;
  std::size_t extended_count = 0;
};

/// Returns the nesting level, 0 = outermost, or NVTX_NO_PUSH_POP_TRACKING.
int push(Domain& domain, const Annotation& annotation);
/// Records the payloads `extended` if the push had none.
int pop(Domain& domain, const nvtxPayloadData_t* extended, std::size_t count);
void mark(Domain& domain, const Annotation& annotation);

/// Returns 0 if the range is neither recorded nor a step marker.
nvtxRangeId_t start(Domain& domain, const Annotation& annotation);
/// Any thread. Ignores unknown and ended ids.
void end(Domain& domain, nvtxRangeId_t id, const nvtxPayloadData_t* extended, std::size_t count);
/// In a child of a fork: forgets started ranges.
void leave_parent();

/// Nanoseconds to record a range; negative if unknown. Not for a job's thread.
double range_cost();

inline bool listening() {
  if (__builtin_expect(recorder::is_off(), 0)) inject::await_recording();
  return (recorder::mode() & (recorder::kNvtx | recorder::kNvtxSteps)) != 0;
}

/// True if nothing is recorded and this message (null = none) cannot be a step or epoch marker.
inline bool is_ignored(const char* text) {
  using namespace recorder;
  if (__builtin_expect(is_off(), 0)) inject::await_recording();
  const std::uint32_t now = mode();
  if ((now & (kNvtx | kNvtxSteps)) == 0) return true;
  if ((now & (kArmed | kNvtx)) == (kArmed | kNvtx)) return false;
  return (now & kNvtxSteps) == 0 || text == nullptr || !session::may_be_marker(*text);
}
inline bool has_open_ranges() {
  const spool::Thread* const t = recorder::known_thread();
  return t != nullptr && (t->open_calls != 0 || t->lost_pushes != 0);
}

}  // namespace profshim::nvtx
