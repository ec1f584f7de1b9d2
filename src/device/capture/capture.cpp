#include "capture.h"

#include <algorithm>

namespace profshim::device {
namespace {

constexpr std::int64_t kSlack_ns = 10'000'000'000;  // records may lie this far outside the recording

std::uint64_t our_time() { return ticks(); }

// Assumes a TSC of at most 8 GHz. Other clocks tick at most once per nanosecond.
Ticks slack_in_ticks() { return static_cast<Ticks>(kSlack_ns) * (clock_detail::kind == ClockKind::kTsc ? 8 : 1); }

}  // namespace

Capture::Capture(const CuptiApi& api, EventOutput& output, const CaptureOptions& options)
    : api_(api), options_(options), scope_(api_), converter_(scope_, output, options.table_bytes), kinds_(scope_) {}

Capture::~Capture() { unset_buffer_pool(pool_); }

std::string Capture::prepare(const IdPlaces& of_another_thread) {
  if (api_.get_version != nullptr) api_.get_version(&version_);
  if (version_ < cupti::kOldestVersion) return "this CUPTI (API " + std::to_string(version_) + ") is older than 11.8";
  set_buffer_pool(pool_, version_ >= cupti::kMayRefuseBuffers);
  converter_.names().load(api_);
  converter_.threads().also_ask(&threads_with_buffers());
  converter_.threads().learn(of_another_thread);
  converter_.threads().learn(id_places_of_this_thread());
  return {};
}

// Registers our clock once, and never after another client's clock: after each registration the first kernels have
// times of CLOCK_REALTIME (seen with Kineto: pytorch#192021). Subscribers cannot register a clock.
void Capture::register_clock() {
  if (!clock_asked_ && options_.own_clock && !scope_.is_shared() && !converter_.clock().has_foreign()) {
    clock_asked_ = true;
    const bool ours = api_.register_timestamps != nullptr && api_.register_timestamps(our_time) == cupti::kSuccess;
    converter_.clock().use_ticks(ours);
  }
  if (scope_.is_shared()) converter_.clock().use_ticks(false);
  converter_.clock().add(take_anchor());
}

bool Capture::turn_on(std::int64_t now_ns) {
  const bool drains = state() == State::kDraining;
  if (is_paused()) begin_again();
  if (!kinds_.any_enabled() && !begin(drains)) return false;
  converter_.clock().add(take_anchor());
  last_flush_ns_ = now_ns;
  waiting_for_ = 0;
  if (!drains) {
    on_since_ = ticks();
    settled_until_.store(on_since_, std::memory_order_release);
  }
  state_.store(State::kOn, std::memory_order_release);
  return true;
}

bool Capture::begin(bool drains) {
  if (!pool_.make(options_.buffers, options_.buffer_bytes)) {
    refusal_ = "out of host memory for CUPTI's buffers";
    return false;
  }
  // Only process-wide callbacks can forward the buffers of another client.
  if (const int refused = scope_.open(buffer_callbacks(), forwards_foreign_buffers()); refused != cupti::kSuccess) {
    refusal_ = "CUPTI does not accept profshim's buffers: " + api_.text_of(refused);
    return false;
  }
  register_clock();
  if (const int refused = kinds_.enable(options_); refused != cupti::kSuccess) {
    refusal_ = "CUPTI does not record kernels: " + api_.text_of(refused);
    if (!drains) scope_.close();
    return false;
  }
  converter_.launches().streams().set_streams_are_dumped(kinds_.streams_are_dumped());
  // CUPTI 13.0 and 13.1 tie graph nodes to wrong launches in all recordings but the first (kineto#1165, fixed in 13.1
  // update 1).
  const bool mixes_up_graphs = version_ >= cupti::kFirstToMixUpGraphs && version_ < cupti::kFixedGraphs;
  if (has_recorded_ && mixes_up_graphs) converter_.graph_joins_are_uncertain();
  has_recorded_ = true;
  return true;
}

void Capture::take_records(std::int64_t now_ns, bool flushed, bool last) {
  const std::vector<BufferPool::Filled> filled = pool_.take_completed();
  if (filled.empty() && !flushed) return;
  if (!filled.empty()) last_progress_ns_ = now_ns;
  converter_.clock().add(take_anchor());
  const Ticks slack = slack_in_ticks();
  converter_.begin_round(on_since_ > slack ? on_since_ - slack : 1, ticks() + slack, now_ns);
  if (!options_.dump_folder.empty()) {
    if (recording_ == nullptr) recording_ = std::make_unique<RecordingFile>(options_.dump_folder, version_);
    for (const BufferPool::Filled& buffer : filled) recording_->append(scope_, buffer);
  }
  converter_.convert(filled);
  for (const BufferPool::Filled& buffer : filled) pool_.recycle(buffer.data);
  converter_.end_round(flushed, last);
  converter_.losses().by_cupti += scope_.dropped_records();
}

void Capture::flush(std::uint32_t flag, std::int64_t now_ns, bool last) {
  const Ticks before = ticks();
  if (api_.flush_all(flag) != cupti::kSuccess) ++converter_.losses().flushes;
  take_records(now_ns, true, last);
  last_flush_ns_ = now_ns;
  if (converter_.launches().take_progress()) last_progress_ns_ = now_ns;
  const Ticks missing = std::min(converter_.launches().oldest_outstanding(), converter_.oldest_held());
  count_lost_launches();
  settled_until_.store(std::min({before, missing, oldest_buffer()}), std::memory_order_release);
}

void Capture::count_lost_launches() {
  const LaunchTracker::Lost lost = converter_.launches().take_lost();
  converter_.losses().launches += lost.launches;
  converter_.losses().graphs += lost.graphs;
  converter_.losses().copies += lost.copies;
}

void Capture::give_up_before(Ticks end) {
  converter_.launches().give_up_before(end);
  count_lost_launches();
}

std::int64_t Capture::serve(const CaptureRequest& request, std::int64_t now_ns) noexcept {
  if (state() == State::kFinished) return -1;
  try {
    return serve_now(request, now_ns);
  } catch (...) {
    failure_ = "out of host memory for CUPTI's records: later GPU activity is missing";
    kinds_.disable();  // even in kOff: turn_on() may have failed midway
    settled_until_.store(kEverything, std::memory_order_release);
    state_.store(State::kFinished, std::memory_order_release);
    return -1;
  }
}

std::int64_t Capture::serve_now(const CaptureRequest& request, std::int64_t now_ns) {
  converter_.clock().use_foreign(request.foreign_clock);
  if (request.yield && state() != State::kYielded) hand_over(request, now_ns);
  if (!request.yield && state() == State::kYielded) take_back();
  const bool on = request.on && !request.finish;
  if (!on) refused_.store(false, std::memory_order_relaxed);
  const bool may_turn_on = state() == State::kOff || state() == State::kDraining;
  if (on && may_turn_on && !refused()) refused_.store(!turn_on(now_ns), std::memory_order_release);
  if (!on && state() == State::kOn) begin_drain(request, now_ns);
  if (state() == State::kDraining) drain(request, now_ns);
  if (is_paused()) {
    discard_records();
    if (!request.again && !request.finish) end_pause();
  }
  if (state() == State::kOn) return serve_on(request, now_ns);
  if (request.finish && state() != State::kDraining) {
    settled_until_.store(kEverything, std::memory_order_release);
    state_.store(State::kFinished, std::memory_order_release);
  }
  return state() == State::kDraining ? poll_interval(now_ns) : -1;
}

std::int64_t Capture::serve_on(const CaptureRequest& request, std::int64_t now_ns) {
  const bool waited_for = request.settle_before > settled_until();
  if (waited_for && waiting_for_ != request.settle_before) {
    waiting_for_ = request.settle_before;
    waiting_since_ns_ = now_ns;
  }
  if (now_ns - last_flush_ns_ >= (waited_for ? poll_interval(now_ns) : kFlushEvery_ns)) {
    flush(0, now_ns, false);
  } else {
    take_records(now_ns, false, false);
  }
  if (waited_for && now_ns - waiting_since_ns_ >= kTimeout_ns && request.settle_before > settled_until()) {
    // A forced flush would lose running launches of the next window.
    converter_.losses().kept_buffers += oldest_buffer() < request.settle_before;
    give_up_before(request.settle_before);
    settled_until_.store(request.settle_before, std::memory_order_release);
  }
  return request.settle_before > settled_until() ? poll_interval(now_ns) : kFlushEvery_ns;
}

// Flushes a long wait more rarely, since each flush costs the job time.
std::int64_t Capture::poll_interval(std::int64_t now_ns) const {
  return std::clamp((now_ns - waiting_since_ns_) / 4, kPollEvery_ns, kFlushEvery_ns / 4);
}

bool Capture::take_overflow() {
  const BufferPool::Counts counts = pool_.counts();
  const std::uint64_t now = counts.refused + counts.reserved + converter_.losses().by_cupti;
  const bool more = now != overflows_seen_;
  overflows_seen_ = now;
  return more;
}

}  // namespace profshim::device
