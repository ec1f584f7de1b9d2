#include "replay.h"

#include <algorithm>
#include <memory>

#include "device/capture/capture.h"
#include "device/client/spool_output.h"
#include "job_thread.h"
#include "profshim/recorder_control.h"
#include "profshim/window_trace.h"
#include "unit/temporary_folder.h"
#include "unit/trace/sample_trace.h"

namespace profshim::replay {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kChunks = 40;

class ReplaySpool {
 public:
  explicit ReplaySpool(std::string& failure) {
    use_clock(ClockKind::kMonotonic);
    if (!recorder::create_spool(folder_.path() + "/replay.spool", {kChunks, 2 << 20}, failure)) return;
    recorder::set_mode(recorder::kActive | recorder::kArmed, 0);
    recorder::tend_pool([] { return Ticks{1}; }, kChunks);
  }
  ~ReplaySpool() {
    recorder::set_mode(0, ~0u);
    recorder::abandon_in_child();
  }
  ReplaySpool(const ReplaySpool&) = delete;
  ReplaySpool& operator=(const ReplaySpool&) = delete;

 private:
  test::TemporaryFolder folder_;
};

std::string name_in(const Row& process) {
  const std::string& quoted = process.args.at("name");
  return quoted.substr(1, quoted.size() - 2);
}

std::int64_t span_of(const Trace& trace) {
  std::int64_t last_ns = first_ns_of(trace);
  for (const Row& row : trace.rows) {
    if (row.phase == 'X') last_ns = std::max(last_ns, row.end_ns());
  }
  return last_ns - first_ns_of(trace);
}

class Replay {
 public:
  Replay(const Trace& original, const Generation& generation, const Plan& plan)
      : original_(original), plan_(plan), spool_(out_.failure), cupti_(generation) {
    for (const Row& row : original.rows) {
      if (row.is_call()) threads_.try_emplace(row.tid);
    }
    for (const auto& [tid, thread] : threads_) {
      out_.tids[tid] = std::to_string(thread.tid());
      recording_.threads[tid] = thread.raw();
    }
    recording_.streams = plan.streams;
    recording_.driver_inside = plan.driver_inside;
  }

  Replayed run(const std::function<void(Records&)>& tamper) {
    if (out_.failure.empty()) switch_on();
    if (out_.failure.empty()) {
      describe_job();
      deliver(tamper);
      write();
      out_.losses = capture_->converter().losses();
      const device::BufferPool::Counts counts = capture_->pool().counts();
      out_.had_buffers = counts.refused + counts.reserved + counts.foreign == 0;
    }
    return std::move(out_);
  }

 private:
  void switch_on() {
    device::CaptureOptions options;
    options.buffers = plan_.buffers;
    options.buffer_bytes = plan_.buffer_bytes;
    options.synchronization = true;
    api_ = cupti_.api();
    capture_ = std::make_unique<device::Capture>(api_, spool_output_, options);
    device::IdPlaces of_helper;
    helper_.run([&of_helper] { of_helper = device::id_places_of_this_thread(); });
    out_.failure = capture_->prepare(of_helper);
    request_.on = true;
    serve();
    while (capture_->make_one_buffer()) {
    }
  }

  void serve(std::int64_t after_ns = 0) { capture_->serve(request_, now_ns_ += after_ns); }

  void describe_job() {
    const std::int64_t first_ns = first_ns_of(original_);
    out_.window_end_ns = window_end_of(original_, plan_.window_percent);
    // The replayed job must end before now.
    recording_.first_tick = ticks() - static_cast<Ticks>(span_of(original_) + kSecond);
    recorder::add_anchor({recording_.first_tick, static_cast<std::int64_t>(recording_.first_tick), first_ns});
    spool::SpoolHeader& header = recorder::header();
    header.base_time_ns = original_.base_ns;
    header.host = recorder::intern("node0");
    header.rank = 0;
    header.world_size = 1;
    for (const Row& row : original_.rows) {
      if (row.is_call()) header.pid = static_cast<std::int32_t>(std::stol(row.pid));
      if (row.name == "process_name") header.program = recorder::intern(name_in(row));
    }
  }

  void deliver(const std::function<void(Records&)>& tamper) {
    records_ = cupti_records(original_, recording_);
    if (tamper) tamper(records_);
    const Ticks end = recording_.first_tick + static_cast<Ticks>(out_.window_end_ns - records_.first_ns);
    spool::Window* const window = recorder::open_window(recording_.first_tick, spool::kNoMark);
    const Delivery delivery = deliveries(records_, out_.window_end_ns, plan_, cupti_);
    for (const Round& round : delivery.in_window) bring(round);
    window->complete = 1;
    recorder::close_window(*window, end, spool::kNoMark, spool::WindowEnd::kSchedule, 0);
    request_.on = false;
    request_.off_at = end;
    for (const Round& round : delivery.afterwards) bring(round);
    constexpr int kMostRounds = 20;  // Capture stops waiting after fewer rounds
    for (int i = 0; i < kMostRounds && capture_->state() != device::Capture::State::kOff; ++i) serve(kSecond);
    if (capture_->state() != device::Capture::State::kOff) out_.failure = "the capture does not end";
    if (cupti_.enabled() != 0) out_.failure = "some kinds are still switched on";
  }

  /// Delivers the round's buffers. A flush follows one second later.
  void bring(const Round& round) {
    for (const Shipment& shipment : round) ship(shipment);
    serve(kSecond);
  }

  void ship(const Shipment& shipment) {
    ReplayCupti::Buffer buffer;
    if (shipment.thread.empty()) {
      buffer = cupti_.request();
    } else {
      threads_.at(shipment.thread).run([&] { buffer = cupti_.request(); });
    }
    for (const Record* const record : shipment.records) {
      if (!cupti_.append(buffer, *record)) out_.failure = "a record does not fit into its buffer";
    }
    if (shipment.at_flush) return cupti_.complete_at_flush(buffer);
    cupti_.complete(buffer);
    serve();
  }

  void write() {
    std::string why_not;
    const auto view = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
    if (view == nullptr) {
      out_.failure = why_not;
      return;
    }
    kineto::WindowTraceBuilder builder(*view, 0, {.trace_name = "/run/rank0.0.pt.trace.json"});
    test::MemorySink sink(out_.json);
    if (!builder.write(sink, {})) out_.failure = "the trace was not written";
    if (builder.summary().dropped != 0) out_.failure = "the spool had no room";
    out_.trace = trace_rows(out_.json);
  }

  const Trace& original_;
  const Plan& plan_;
  Replayed out_;
  ReplaySpool spool_;
  ReplayCupti cupti_;
  device::CuptiApi api_;
  device::SpoolOutput spool_output_;
  std::map<std::string, JobThread> threads_;  // by tid in the original trace
  JobThread helper_;
  Recording recording_;
  Records records_;
  std::unique_ptr<device::Capture> capture_;
  device::CaptureRequest request_;
  std::int64_t now_ns_ = 1000 * kSecond;
};

}  // namespace

Replayed replay(const Trace& original, const Generation& generation, const Plan& plan,
                const std::function<void(Records&)>& tamper) {
  return Replay(original, generation, plan).run(tamper);
}

}  // namespace profshim::replay
