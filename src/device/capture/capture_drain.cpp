// The end of a recording: Capture waits for device activity that is still running, and hands CUPTI to other clients.
#include <algorithm>

#include "capture.h"

namespace profshim::device {

// Returns when CUPTI took the oldest buffer that it still has. A flush returns every buffer without an incomplete
// record (cupti_activity.h). The remaining buffers hold records of activity that still runs, and among them records of
// calls that have ended.
Ticks Capture::oldest_buffer() const {
  return keeps_buffers_ ? BufferPool::kNoneOutstanding : pool_.oldest_outstanding();
}

// Switches every kind off at once. Otherwise a job that runs ahead of its device would pay for the recording until the
// device has caught up, and no flush would return a buffer, since each would hold the record of a later launch that
// still runs. CUPTI still completes the records of earlier launches.
void Capture::begin_drain(const CaptureRequest& request, std::int64_t now_ns) {
  state_.store(State::kDraining, std::memory_order_release);
  kinds_.disable();
  drain_until_ = request.off_at;
  waiting_since_ns_ = last_progress_ns_ = busy_ns_ = now_ns;
}

void Capture::drain(const CaptureRequest& request, std::int64_t now_ns) {
  flush(0, now_ns, false);
  // A subscriber stays until the buffers of later launches have come back as well: otherwise they are lost.
  const bool stays_subscribed = scope_.is_shared() && oldest_buffer() != BufferPool::kNoneOutstanding;
  const bool all_here = settled_until() >= drain_until_ && !stays_subscribed;
  // If CUPTI has no buffer, no record is on its way, and the missing ones never come. With the hardware event system a
  // running kernel may hold no buffer, so kQuietTime_ns must pass first.
  if (oldest_buffer() < drain_until_) busy_ns_ = now_ns;
  const bool nothing_left = now_ns - std::max(busy_ns_, last_progress_ns_) >= kQuietTime_ns;
  const bool timed_out = now_ns - waiting_since_ns_ >= kTimeout_ns ||
                         (request.finish && now_ns - std::max(last_progress_ns_, waiting_since_ns_) >= kExitTimeout_ns);
  // The job has waited for its device: records that a forced flush does not bring never come.
  const bool all_ended =
      request.finish && converter_.launches().oldest_running() >= drain_until_ && oldest_buffer() >= drain_until_;
  if (!all_here && !nothing_left && !timed_out && !all_ended && !(request.finish && request.abrupt)) return;
  end_drain(request, all_here, now_ns);
}

// Flushes a last time and switches to kOff. A forced flush also takes incomplete records away from other subscribers,
// so that beside them only the end of the process forces one. If the forced flush brings buffers without an incomplete
// record, this CUPTI keeps buffers for no reason, and later drains do not wait for buffers.
void Capture::end_drain(const CaptureRequest& request, bool all_here, std::int64_t now_ns) {
  const bool forced = request.finish || (!all_here && !scope_.is_shared());
  const bool has_buffers = oldest_buffer() < drain_until_;
  const Losses before = converter_.losses();
  flush(forced ? cupti::kFlushForced : 0, now_ns, true);
  give_up_before(drain_until_);
  if (forced && has_buffers && converter_.losses() == before) keeps_buffers_ = true;
  leave(drain_until_);
  settled_until_.store(kEverything, std::memory_order_release);
  state_.store(State::kOff, std::memory_order_release);
}

// Unsubscribes, if our client is a subscriber. A subscriber never gets the buffers back that CUPTI then has; in the
// process's form of the API they come back later. Counts the lost buffers that CUPTI took before `until`.
void Capture::leave(Ticks until) {
  converter_.launches().clear();
  if (!scope_.is_shared()) return;
  scope_.close();
  discard_completed();
  converter_.losses().kept_buffers += pool_.write_off_outstanding(until);
}

// Drops buffers that came back after the last flush. Reading them would need the process's form of the API, whose use
// would keep subscribers out.
void Capture::discard_completed() {
  for (const BufferPool::Filled& buffer : pool_.take_completed()) {
    converter_.losses().kept_buffers += buffer.valid > 0;
    pool_.recycle(buffer.data);
  }
}

// Hands CUPTI over to another client. Buffers of ours that CUPTI still has go to that client, which may free them: they
// are written off.
void Capture::hand_over(const CaptureRequest& request, std::int64_t now_ns) {
  if (state() == State::kOn || state() == State::kDraining) {
    if (request.yielded_too_late) {
      kinds_.forget();
      take_records(now_ns, true, true);
    } else {
      kinds_.disable();
      flush(scope_.is_shared() ? 0 : cupti::kFlushForced, now_ns, true);
    }
    give_up_before(kEverything);
    leave(kEverything);
  } else if (!scope_.is_shared() && pool_.oldest_outstanding() != BufferPool::kNoneOutstanding) {
    // The buffers hold launches after the window, which are not wanted. The other client must not get the buffers.
    if (!request.yielded_too_late) api_.flush_all(cupti::kFlushForced);
    take_records(now_ns, true, true);
  }
  has_recorded_ = true;  // the other client records
  // After a forced flush the remaining buffers have no records.
  const std::uint64_t kept = pool_.write_off_outstanding(kEverything);
  if (request.yielded_too_late) converter_.losses().kept_buffers += kept;
  settled_until_.store(kEverything, std::memory_order_release);
  state_.store(State::kYielded, std::memory_order_release);
}

void Capture::take_back() {
  discard_completed();
  state_.store(State::kOff, std::memory_order_release);
}

}  // namespace profshim::device
