// NVTX ranges and marks become events, and step markers become boundaries. Called by the callbacks of
// nvtx_injection.cpp on the job's threads: no lock, no allocation, no system call.
//
// A range that began while nothing was recorded is not recorded. Where such a range could be confused with a recorded
// one around it, or is a step marker, a placeholder (hook kNone) takes its place among the thread's open calls, so that
// every pop meets its own push.
#pragma once

#include <cstddef>
#include <string_view>

#include "handles.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::nvtx {

/// What a call says about its range: the core attributes, or extended payloads, or both.
struct Annotation {
  std::string_view text;               // the message, unless one of the next two is set
  const char* c_text = nullptr;        // a message that ends with a NUL and has not been measured
  RegisteredString* string = nullptr;  // its message
  std::uint64_t payload = 0;
  std::uint8_t payload_type = 0;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  const nvtxPayloadData_t* extended = nullptr;
  std::size_t extended_count = 0;
};

/// The nesting level of the range in its domain and thread, 0 = outermost; NVTX_NO_PUSH_POP_TRACKING while not
/// recording.
int push(Domain& domain, const Annotation& annotation);
/// Closes the innermost open range of this domain on this thread. `extended` goes to it when it has none.
int pop(Domain& domain, const nvtxPayloadData_t* extended, std::size_t count);
void mark(Domain& domain, const Annotation& annotation);

/// 0 when nothing has to be done at the end.
nvtxRangeId_t start(Domain& domain, const Annotation& annotation);
/// Any thread. An id that is not ours, or was ended before, is ignored.
void end(Domain& domain, nvtxRangeId_t id, const nvtxPayloadData_t* extended, std::size_t count);

/// Nanoseconds that recording a range takes of its thread, measured on the calling one, which is none of the job's; <
/// 0: not known.
double range_cost();

/// True when calls have any effect: the process is a recorded rank that wants NVTX, or NVTX makes the steps.
inline bool listening() { return (recorder::mode() & (recorder::kNvtx | recorder::kNvtxSteps)) != 0; }

/// Is there nothing to do for a mark or a range with this message (null = none), because nothing is recorded now and it
/// can be no step marker? Inline: outside windows this is all that such a call costs.
inline bool is_unheard(const char* text) {
  using namespace recorder;
  const std::uint32_t now = mode();
  if ((now & (kNvtx | kNvtxSteps)) == 0) return true;
  if ((now & (kArmed | kNvtx)) == (kArmed | kNvtx)) return false;
  return (now & kNvtxSteps) == 0 || text == nullptr || !session::may_be_marker(*text);
}
/// May a push of this thread be nested in something that we know of, or a pop end it?
inline bool has_open_ranges() {
  const spool::Thread* const t = recorder::known_thread();
  return t != nullptr && (t->open_calls != 0 || t->lost_pushes != 0);
}

}  // namespace profshim::nvtx
