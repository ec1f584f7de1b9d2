// Records NVTX ranges and marks as events, and turns step markers into step boundaries. The callbacks call these
// functions on the job's threads: no lock, no allocation, no system call.
//
// A range that begins while nothing is recorded is not recorded later either. If it is a step marker, or other calls
// are open on its thread, a placeholder (an open call with hook kNone) stands for it, so that its pop does not end a
// recorded range.
#pragma once

#include <cstddef>
#include <string_view>

#include "handles.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::nvtx {

/// The arguments of a call: the core attributes, extended payloads, or both.
struct Annotation {
  std::string_view text;               // the message, if the next two are null
  const char* c_text = nullptr;        // a message whose length is not known
  RegisteredString* string = nullptr;  // a registered message
  std::uint64_t payload = 0;
  std::uint8_t payload_type = 0;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  const nvtxPayloadData_t* extended = nullptr;
  std::size_t extended_count = 0;
};

/// Returns the nesting level of the range in its domain and thread, 0 = outermost; NVTX_NO_PUSH_POP_TRACKING if the
/// range is not tracked.
int push(Domain& domain, const Annotation& annotation);
/// Ends the innermost open range of this domain on this thread, and returns its level as push() does. The range gets
/// the payloads in `extended` if its push had none.
int pop(Domain& domain, const nvtxPayloadData_t* extended, std::size_t count);
void mark(Domain& domain, const Annotation& annotation);

/// Returns an id for end(); 0 if end() has nothing to do.
nvtxRangeId_t start(Domain& domain, const Annotation& annotation);
/// May run on another thread than start(). Ignores an id that start() has not returned, or that has been ended.
void end(Domain& domain, nvtxRangeId_t id, const nvtxPayloadData_t* extended, std::size_t count);

/// Measures how many nanoseconds the recording of a range costs its thread. Call it on a thread that is not the job's.
/// Negative if the cost cannot be measured.
double range_cost();

/// Returns true if NVTX calls matter: the process is a recorded rank, and NVTX is recorded or makes its steps.
inline bool listening() { return (recorder::mode() & (recorder::kNvtx | recorder::kNvtxSteps)) != 0; }

/// Returns true if a mark or range with this message (null = none) needs no action: nothing is recorded now, and it
/// cannot be a step or epoch marker. Outside windows a call costs no more than this test.
inline bool is_ignored(const char* text) {
  using namespace recorder;
  const std::uint32_t now = mode();
  if ((now & (kNvtx | kNvtxSteps)) == 0) return true;
  if ((now & (kArmed | kNvtx)) == (kArmed | kNvtx)) return false;
  return (now & kNvtxSteps) == 0 || text == nullptr || !session::may_be_marker(*text);
}
/// Returns true if this thread has open calls or lost pushes, so that its pushes and pops must be counted.
inline bool has_open_ranges() {
  const spool::Thread* const t = recorder::known_thread();
  return t != nullptr && (t->open_calls != 0 || t->lost_pushes != 0);
}

}  // namespace profshim::nvtx
