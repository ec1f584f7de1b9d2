#include <algorithm>

#include "capture.h"

namespace profshim::device {

// After a flush CUPTI keeps only buffers with an incomplete record (cupti_activity.h).
Ticks Capture::oldest_buffer() const {
  return keeps_buffers_ ? BufferPool::kNoneOutstanding : pool_.oldest_outstanding();
}

// After the only window, disables all kinds: if a job launched ahead of its device, each buffer would hold a running
// launch, and no flush would return one. CUPTI still completes earlier records. Otherwise buffers return once they are
// full, or at the forced flush of end_drain().
void Capture::begin_drain(const CaptureRequest& request, std::int64_t now_ns) {
  state_.store(State::kDraining, std::memory_order_release);
  stays_on_ = was_paused_ || (request.again && !request.finish);
  if (!stays_on_) kinds_.disable();
  drain_until_ = request.off_at;
  waiting_since_ns_ = last_progress_ns_ = busy_ns_ = left_changed_ns_ = now_ns;
}

void Capture::drain(const CaptureRequest& request, std::int64_t now_ns) {
  flush(0, now_ns, false);
  // Wait for all buffers: the end of a subscription loses them.
  const bool stays_subscribed = scope_.is_shared() && !stays_on_ && oldest_buffer() != BufferPool::kNoneOutstanding;
  const bool all_here = settled_until() >= drain_until_ && !stays_subscribed;
  // Wait kQuietTime_ns even if CUPTI has no buffer: kernels timed by the hardware event system may hold none.
  if (oldest_buffer() < drain_until_) busy_ns_ = now_ns;
  const std::size_t left = converter_.launches().outstanding_before(drain_until_);
  if (left != left_) left_changed_ns_ = now_ns;
  left_ = left;
  // If CUPTI stays on, later activity never ends.
  const std::int64_t progress_ns = stays_on_ ? left_changed_ns_ : last_progress_ns_;
  const bool nothing_left = now_ns - std::max(busy_ns_, progress_ns) >= kQuietTime_ns;
  const bool timed_out = now_ns - waiting_since_ns_ >= kTimeout_ns ||
                         (request.finish && now_ns - std::max(progress_ns, waiting_since_ns_) >= kExitTimeout_ns);
  // Once all awaited launches have ended, only the forced flush in end_drain() may still bring records.
  const bool all_ended =
      request.finish && converter_.launches().oldest_running() >= drain_until_ && oldest_buffer() >= drain_until_;
  if (!all_here && !nothing_left && !timed_out && !all_ended && !(request.finish && request.abrupt)) return;
  end_drain(request, all_here, now_ns);
}

// A forced flush also takes incomplete records of other subscribers. If a forced flush brings buffers but loses
// nothing, this CUPTI keeps complete buffers: later drains ignore buffers.
void Capture::end_drain(const CaptureRequest& request, bool all_here, std::int64_t now_ns) {
  const bool forced = request.finish || (!all_here && !scope_.is_shared());
  const bool has_buffers = oldest_buffer() < drain_until_;
  const Losses before = converter_.losses();
  flush(forced ? cupti::kFlushForced : 0, now_ns, true);
  give_up_before(drain_until_);
  if (forced && has_buffers && !stays_on_ && converter_.losses() == before) keeps_buffers_ = true;
  was_paused_ = was_paused_ || stays_on_;
  if (stays_on_) {
    converter_.launches().forget_launches();
  } else {
    leave(drain_until_);
  }
  settled_until_.store(kEverything, std::memory_order_release);
  state_.store(State::kOff, std::memory_order_release);
}

void Capture::discard_records() {
  const std::vector<BufferPool::Filled> filled = pool_.take_completed();
  converter_.learn_streams(filled);
  for (const BufferPool::Filled& buffer : filled) pool_.recycle(buffer.data);
}

void Capture::begin_again() {
  discard_records();
  converter_.skip_before(ticks());
  scope_.dropped_records();  // forgets those of the pause, as take_overflow() does
  take_overflow();
}

// No flush may follow.
void Capture::end_pause() {
  kinds_.disable();
  leave(0);
}

// Process-wide buffers come back later.
void Capture::leave(Ticks until) {
  converter_.launches().clear();
  if (!scope_.is_shared()) return;
  scope_.close();
  discard_completed();
  converter_.losses().kept_buffers += pool_.write_off_outstanding(until);
}

// Reads no late buffer: reading needs process-wide functions, which keep subscribers out.
void Capture::discard_completed() {
  for (const BufferPool::Filled& buffer : pool_.take_completed()) {
    converter_.losses().kept_buffers += buffer.valid > 0;
    pool_.recycle(buffer.data);
  }
}

// Writes off the buffers at CUPTI: the other client may free them.
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
  } else if (is_paused()) {
    if (request.yielded_too_late) {
      kinds_.forget();
    } else {
      kinds_.disable();
      if (!scope_.is_shared()) api_.flush_all(cupti::kFlushForced);
    }
    discard_records();
    leave(0);
  } else if (!scope_.is_shared() && pool_.oldest_outstanding() != BufferPool::kNoneOutstanding) {
    // The other client must not get the buffers of launches after the window.
    if (!request.yielded_too_late) api_.flush_all(cupti::kFlushForced);
    take_records(now_ns, true, true);
  }
  has_recorded_ = true;
  // After a forced flush the remaining buffers are empty.
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
