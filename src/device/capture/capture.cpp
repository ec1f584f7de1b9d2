#include "capture.h"

#include <algorithm>

namespace profshim::device {
namespace {

// CUPTI's callbacks carry nothing that would tell whose they are.
constinit std::atomic<BufferPool*> pool_in_use{nullptr};
constinit SeenThreads seen_threads;
constinit std::atomic<bool> requests_may_be_refused{false};
constinit std::atomic<void (*)()> on_completed{nullptr};
constinit std::atomic<BufferCompleted> foreign_completed{nullptr};

constexpr std::int64_t kSlack_ns = 10'000'000'000;  // how far a time may lie before the beginning, or ahead of now

// Threads of the job, inside a call of CUDA.
void buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  BufferPool* const pool = pool_in_use.load(std::memory_order_acquire);
  *max_records = 0;                // as many as fit
  seen_threads.add_this_thread();  // CUPTI 13 has a buffer for each thread
  const BufferPool::Room room = pool != nullptr ? pool->take(requests_may_be_refused.load(std::memory_order_relaxed))
                                                : BufferPool::Room{nullptr, 0};
  *buffer = room.data;
  *size = room.bytes;
}

// A thread of CUPTI, or one that flushes.
void buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                      std::size_t valid_size) {
  BufferPool* const pool = pool_in_use.load(std::memory_order_acquire);
  if (pool == nullptr) return;
  const BufferCompleted other = foreign_completed.load(std::memory_order_acquire);
  if (!pool->complete(buffer, valid_size, other == nullptr)) {
    if (other != nullptr) other(context, stream, buffer, size, valid_size);
    return;
  }
  if (void (*const wake)() = on_completed.load(std::memory_order_relaxed)) wake();
}

constexpr BufferCallbacks kCallbacks = {buffer_requested, buffer_completed,
                                        [](std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*) {
                                          buffer_requested(buffer, size, max_records);
                                        },
                                        [](std::uint8_t* buffer, std::size_t size, std::size_t valid_size, void*) {
                                          buffer_completed(nullptr, 0, buffer, size, valid_size);
                                        }};

/// The part of a trace that is missing without this kind; null: none that a reader looks for.
const char* shown_as(std::uint32_t kind) {
  switch (kind) {
    case cupti::kMemcpyKind:
      return "copies";
    case cupti::kPeerCopyKind:
      return "copies between devices";
    case cupti::kMemsetKind:
      return "memsets";
    case cupti::kGraphTraceKind:
      return "graphs";
    case cupti::kExternalCorrelationKind:
      return "which kernel belongs to which NCCL call";
    case cupti::kMemoryKind:
      return "allocations";
    case cupti::kSynchronizationKind:
      return "waits";
    case cupti::kDeviceKind:
      return "the properties of the devices";
    default:
      return nullptr;
  }
}

void lacks(std::string& list, const char* what) { list += (list.empty() ? "" : ", ") + std::string(what); }

std::uint64_t our_time() { return ticks(); }

// At least so many ticks: nanoseconds of CLOCK_MONOTONIC, or those of a TSC of up to 8 GHz.
Ticks slack_in_ticks() { return static_cast<Ticks>(kSlack_ns) * (clock_detail::kind == ClockKind::kTsc ? 8 : 1); }

}  // namespace

void call_when_completed(void (*function)()) { on_completed.store(function); }
void forward_foreign_buffers(BufferCompleted completed) { foreign_completed.store(completed); }

Capture::Capture(const CuptiApi& api, EventOutput& output, const CaptureOptions& options)
    : api_(api), options_(options), scope_(api_), converter_(scope_, output, options.table_bytes) {}

Capture::~Capture() {
  BufferPool* mine = &pool_;
  pool_in_use.compare_exchange_strong(mine, nullptr);
}

std::string Capture::prepare(const IdPlaces& of_another_thread) {
  if (api_.get_version != nullptr) api_.get_version(&version_);
  if (version_ < cupti::kOldestVersion) return "this CUPTI (API " + std::to_string(version_) + ") is older than 11.8";
  requests_may_be_refused.store(version_ >= cupti::kMayRefuseBuffers);
  pool_in_use.store(&pool_, std::memory_order_release);
  converter_.names().load(api_);
  converter_.threads().also_ask(&seen_threads);
  converter_.threads().learn(of_another_thread);
  converter_.threads().learn(id_places_of_this_thread());
  return {};
}

// Once per process, and never where another client has a clock: CUPTI gives the first kernel after every registration
// times of CLOCK_REALTIME (seen with Kineto, which loses its first kernel so: pytorch#192021). A subscriber has no
// clock of its own in any release.
void Capture::register_clock() {
  if (!clock_asked_ && options_.own_clock && !scope_.is_shared() && !converter_.clock().has_foreign()) {
    clock_asked_ = true;
    const bool ours = api_.register_timestamps != nullptr && api_.register_timestamps(our_time) == cupti::kSuccess;
    converter_.clock().use_ticks(ours);
  }
  if (scope_.is_shared()) converter_.clock().use_ticks(false);
  converter_.clock().add(take_anchor());
}

void Capture::enable_calls(bool runtime) {
  const std::uint32_t kind = runtime ? cupti::kRuntimeKind : cupti::kDriverKind;
  std::vector<std::uint32_t>& on = calls_[runtime ? 1 : 0];
  on.clear();
  for (const std::uint32_t id : converter_.names().wanted(runtime)) {
    if (scope_.enable_call(runtime, id, true) == cupti::kSuccess) on.push_back(id);
  }
  if (!on.empty()) return;
  if (scope_.enable(kind) == cupti::kSuccess) {
    kinds_.push_back(kind);
  } else {
    lacks(not_recorded_, runtime ? "calls of the runtime" : "calls of the driver");
  }
}

// The tie between a device and a context is known before the work in it.
void Capture::enable_what_exists() {
  for (const std::uint32_t kind : {cupti::kDeviceKind, cupti::kContextKind, cupti::kStreamKind}) {
    bool on = scope_.enable_and_dump(kind) == cupti::kSuccess;
    if (kind == cupti::kStreamKind) converter_.launches().streams_are_told(on);
    on = on || scope_.enable(kind) == cupti::kSuccess;
    if (on) kinds_.push_back(kind);
    if (!on && shown_as(kind) != nullptr) lacks(not_recorded_, shown_as(kind));
  }
}

bool Capture::enable_kinds() {
  not_recorded_.clear();
  const int refused = scope_.enable(cupti::kConcurrentKernelKind);
  if (refused != cupti::kSuccess) {
    refusal_ = "CUPTI does not record kernels: " + api_.text_of(refused);
    return false;
  }
  kinds_.push_back(cupti::kConcurrentKernelKind);
  enable_what_exists();
  std::vector<std::uint32_t> wanted = {cupti::kOverheadKind};
  if (options_.external) wanted.push_back(cupti::kExternalCorrelationKind);
  if (options_.memory) wanted.push_back(cupti::kMemoryKind);
  if (options_.synchronization) {
    wanted.push_back(cupti::kCudaEventKind);  // which record a wait is for
    wanted.push_back(cupti::kSynchronizationKind);
  }
  for (const std::uint32_t kind : {cupti::kMemsetKind, cupti::kMemcpyKind, cupti::kPeerCopyKind}) {
    wanted.push_back(kind);
  }
  if (options_.whole_graphs && !scope_.is_shared()) wanted.push_back(cupti::kGraphTraceKind);
  if (options_.whole_graphs && scope_.is_shared()) {
    // CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE would take the nodes from all other clients.
    lacks(not_recorded_, "graphs as a whole beside other clients (their nodes are recorded)");
  }
  for (const std::uint32_t kind : wanted) {
    if (scope_.enable(kind) == cupti::kSuccess) {
      kinds_.push_back(kind);
    } else if (const char* const what = shown_as(kind)) {
      lacks(not_recorded_, what);
    }
  }
  enable_calls(false);
  enable_calls(true);
  return true;
}

// Also while the last window drains: what it waits for stays awaited.
bool Capture::turn_on(std::int64_t now_ns) {
  const bool drains = state() == State::kDraining;
  if (!pool_.make(options_.buffers, options_.buffer_bytes)) {
    refusal_ = "there is no memory for CUPTI's buffers";
    return false;
  }
  // With what another client has registered it would get our records.
  // A client of the process that has let go may still read its buffers with the functions of the process.
  const bool of_process = foreign_completed.load(std::memory_order_acquire) != nullptr;
  if (const int refused = scope_.open(kCallbacks, of_process); refused != cupti::kSuccess) {
    refusal_ = "CUPTI takes no buffers: " + api_.text_of(refused);
    return false;
  }
  register_clock();
  if (!enable_kinds()) {
    if (!drains) scope_.close();
    return false;
  }
  converter_.clock().add(take_anchor());
  last_flush_ns_ = now_ns;
  waiting_for_ = 0;
  if (!drains) {
    // In every recording of a process but the first: kineto#1165, mended in 13.1 update 1.
    const bool mixes_up_graphs = version_ >= cupti::kFirstToMixUpGraphs && version_ < cupti::kMendedGraphs;
    if (has_recorded_ && mixes_up_graphs) converter_.graph_joins_are_uncertain();
    has_recorded_ = true;
    on_since_ = ticks();
    settled_until_.store(on_since_, std::memory_order_release);
  }
  state_.store(State::kOn, std::memory_order_release);
  return true;
}

// In the order in which it was switched on: calls go last, so that nothing begins that is not awaited.
void Capture::turn_off() {
  for (const bool runtime : {false, true}) {
    for (const std::uint32_t id : calls_[runtime ? 1 : 0]) scope_.enable_call(runtime, id, false);
    calls_[runtime ? 1 : 0].clear();
  }
  for (auto kind = kinds_.rbegin(); kind != kinds_.rend(); ++kind) scope_.disable(*kind);
  kinds_.clear();
}

// `flushed`: what was held back for the call around it has been waited for long enough.
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

void Capture::round(std::uint32_t flag, std::int64_t now_ns, bool last) {
  const Ticks before = ticks();
  if (api_.flush_all(flag) != cupti::kSuccess) ++converter_.losses().flushes;
  take_records(now_ns, true, last);
  last_flush_ns_ = now_ns;
  if (converter_.launches().take_progress()) last_progress_ns_ = now_ns;
  const Ticks missing = std::min(converter_.launches().oldest_outstanding(), converter_.oldest_held());
  count_lost_launches();
  settled_until_.store(std::min({before, missing, oldest_buffer()}), std::memory_order_release);
}

// A flush returns every buffer without an incomplete record (cupti_activity.h). The buffers that it leaves hold work
// that still runs, and with it records of calls that have ended.
Ticks Capture::oldest_buffer() const {
  return keeps_buffers_ ? BufferPool::kNoneOutstanding : pool_.oldest_outstanding();
}

void Capture::count_lost_launches() {
  const LaunchTracker::Lost lost = converter_.launches().take_lost();
  converter_.losses().launches += lost.launches;
  converter_.losses().graphs += lost.graphs;
}

void Capture::give_up_before(Ticks end) {
  converter_.launches().give_up_before(end);
  count_lost_launches();
}

// Every kind goes off at once: a job that runs ahead of its device would pay for the recording until the device has
// caught up, and no flush would return a buffer, since each would hold the record of a later launch that still runs.
// CUPTI completes the records of what was launched before.
void Capture::begin_drain(const CaptureRequest& request, std::int64_t now_ns) {
  state_.store(State::kDraining, std::memory_order_release);
  turn_off();
  drain_until_ = request.off_at;
  waiting_since_ns_ = last_progress_ns_ = busy_ns_ = now_ns;
}

void Capture::drain(const CaptureRequest& request, std::int64_t now_ns) {
  round(0, now_ns, false);
  // A subscriber stays until also the buffers of later launches have come back: they cannot be used again else.
  const bool keeps_place = scope_.is_shared() && oldest_buffer() != BufferPool::kNoneOutstanding;
  const bool all_here = settled_until() >= drain_until_ && !keeps_place;
  // Without a buffer at CUPTI nothing is under way, and the missing records never come. With the hardware's event
  // system a kernel may hold no buffer while it runs, so that much time passes first.
  if (oldest_buffer() < drain_until_) busy_ns_ = now_ns;
  const bool nothing_left = now_ns - std::max(busy_ns_, last_progress_ns_) >= kQuiet_ns;
  const bool tired = now_ns - waiting_since_ns_ >= kPatience_ns ||
                     (request.finish && now_ns - std::max(last_progress_ns_, waiting_since_ns_) >= kExitPatience_ns);
  // The job has waited for its device: what a forced flush does not bring will never come.
  const bool all_ended =
      request.finish && converter_.launches().oldest_running() >= drain_until_ && oldest_buffer() >= drain_until_;
  if (!all_here && !nothing_left && !tired && !all_ended && !(request.finish && request.abrupt)) return;
  end_drain(request, all_here, now_ns);
}

// A forced flush takes incomplete records away from other subscribers too: beside them only the end of the process
// forces one. Where it brings buffers without an incomplete record, this CUPTI keeps buffers for no reason: nobody
// waits for them again.
void Capture::end_drain(const CaptureRequest& request, bool all_here, std::int64_t now_ns) {
  const bool forced = request.finish || (!all_here && !scope_.is_shared());
  const bool has_buffers = oldest_buffer() < drain_until_;
  const Losses before = converter_.losses();
  round(forced ? cupti::kFlushForced : 0, now_ns, true);
  give_up_before(drain_until_);
  if (forced && has_buffers && converter_.losses() == before) keeps_buffers_ = true;
  let_go(drain_until_);
  settled_until_.store(kEverything, std::memory_order_release);
  state_.store(State::kOff, std::memory_order_release);
}

// A subscriber that leaves never sees again the buffers that CUPTI has; those of the process come back later.
void Capture::let_go(Ticks until) {
  converter_.launches().clear();
  if (!scope_.is_shared()) return;
  scope_.close();
  discard_completed();
  converter_.losses().kept_buffers += pool_.write_off_outstanding(until);
}

// Came back after the last look. To read it would be a call for the process.
void Capture::discard_completed() {
  for (const BufferPool::Filled& buffer : pool_.take_completed()) {
    converter_.losses().kept_buffers += buffer.valid > 0;
    pool_.recycle(buffer.data);
  }
}

// Every buffer of ours that CUPTI still has would go to the other client, which may free it.
void Capture::hand_over(const CaptureRequest& request, std::int64_t now_ns) {
  if (state() == State::kOn || state() == State::kDraining) {
    if (request.yielded_too_late) {
      kinds_.clear();
      for (std::vector<std::uint32_t>& calls : calls_) calls.clear();
      take_records(now_ns, true, true);
    } else {
      turn_off();
      round(scope_.is_shared() ? 0 : cupti::kFlushForced, now_ns, true);
    }
    give_up_before(kEverything);
    let_go(kEverything);
  } else if (!scope_.is_shared() && pool_.oldest_outstanding() != BufferPool::kNoneOutstanding) {
    // They hold launches after the window. Nobody wants these, but the other client must not get the buffers.
    if (!request.yielded_too_late) api_.flush_all(cupti::kFlushForced);
    take_records(now_ns, true, true);
  }
  has_recorded_ = true;  // the other client does
  // After a forced flush those that are left have no records.
  const std::uint64_t kept = pool_.write_off_outstanding(kEverything);
  if (request.yielded_too_late) converter_.losses().kept_buffers += kept;
  settled_until_.store(kEverything, std::memory_order_release);
  state_.store(State::kYielded, std::memory_order_release);
}

void Capture::take_back() {
  discard_completed();
  state_.store(State::kOff, std::memory_order_release);
}

std::int64_t Capture::serve(const CaptureRequest& request, std::int64_t now_ns) noexcept {
  if (state() == State::kFinished) return -1;
  try {
    return serve_now(request, now_ns);
  } catch (...) {
    // An exception that leaves this thread would end the job.
    failure_ = "there was no memory for what CUPTI has recorded: the GPU activity after that is missing";
    if (state() == State::kOn || state() == State::kDraining) turn_off();
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
  if (state() == State::kOn) return serve_on(request, now_ns);
  if (request.finish && state() != State::kDraining) {
    settled_until_.store(kEverything, std::memory_order_release);
    state_.store(State::kFinished, std::memory_order_release);
  }
  return state() == State::kDraining ? pause(now_ns) : -1;
}

std::int64_t Capture::serve_on(const CaptureRequest& request, std::int64_t now_ns) {
  const bool waited_for = request.settle_before > settled_until();
  if (waited_for && waiting_for_ != request.settle_before) {
    waiting_for_ = request.settle_before;
    waiting_since_ns_ = now_ns;
  }
  if (now_ns - last_flush_ns_ >= (waited_for ? pause(now_ns) : kFlushEvery_ns)) {
    round(0, now_ns, false);
  } else {
    take_records(now_ns, false, false);
  }
  if (waited_for && now_ns - waiting_since_ns_ >= kPatience_ns && request.settle_before > settled_until()) {
    // A forced flush would bring them, and lose the launches of the next window that wait behind.
    converter_.losses().kept_buffers += oldest_buffer() < request.settle_before;
    give_up_before(request.settle_before);
    settled_until_.store(request.settle_before, std::memory_order_release);
  }
  return request.settle_before > settled_until() ? pause(now_ns) : kFlushEvery_ns;
}

// The longer it takes, the less often it is asked: asking costs the job something.
std::int64_t Capture::pause(std::int64_t now_ns) const {
  return std::clamp((now_ns - waiting_since_ns_) / 4, kLookEvery_ns, kFlushEvery_ns / 4);
}

bool Capture::take_overflow() {
  const BufferPool::Counts counts = pool_.counts();
  const std::uint64_t now = counts.refused + counts.reserved + converter_.losses().by_cupti;
  const bool more = now != overflows_seen_;
  overflows_seen_ = now;
  return more;
}

}  // namespace profshim::device
