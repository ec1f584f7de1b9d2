#include "capture_report.h"

#include "device/cupti/mapped_libraries.h"
#include "profshim/base/log.h"
#include "profshim/json/writer.h"
#include "profshim/recorder_control.h"
#include "profshim/trace/schema.h"

namespace profshim::device {

void CaptureReport::write_versions(Capture& capture) {
  if (versions_) return;
  versions_ = true;
  const auto add = [](std::string_view key, int version) {
    if (version > 0) recorder::add_metadata(key, std::to_string(version));
  };
  recorder::add_metadata(schema::top::kCuptiVersion, std::to_string(capture.version()));
  add(schema::top::kCudaDriverVersion, driver_version());
  add(schema::top::kCudaRuntimeVersion, runtime_version());
  namespace timing = schema::ours::device_timing;
  JsonWriter json;
  json.open_object().member(timing::kMethod, "cupti").member(timing::kClock, capture.converter().clock().name());
  recorder::add_metadata(timing::kKey, json.close_object().text());
}

namespace {

std::string losses_json(const Losses& now, const BufferPool::Counts& counts, std::uint64_t unknown_threads) {
  namespace key = schema::ours::gpu_losses;
  JsonWriter json;
  json.open_object().member(key::kByCupti, now.by_cupti).member(key::kNoTime, now.times.zero);
  json.member(key::kEndBeforeBegin, now.times.reversed).member(key::kOutside, now.times.outside);
  json.member(key::kLaunches, now.launches).member(key::kUnknownThreads, unknown_threads);
  json.member(key::kKeptBuffers, now.kept_buffers).member(key::kGraphs, now.graphs);
  json.member(key::kCopies, now.copies).member(key::kRepeatedIds, now.repeated_ids);
  json.member(key::kUncertainGraphNodes, now.uncertain_graph_nodes).member(key::kRefusedFlushes, now.flushes);
  json.member(key::kUnknownRecords, now.unknown_kinds).member(key::kTruncatedBuffers, now.truncated);
  json.member(key::kRefusedBuffers, counts.refused).member(key::kReserveBuffers, counts.reserved);
  json.member(key::kOverwrittenBuffers, counts.overwritten).member(key::kUnreadBuffers, counts.unread);
  return json.member(key::kForeignBuffers, counts.foreign).close_object().text();
}

void add_loss_problems(const Losses& now) {
  if (now.by_cupti > 0)
    recorder::problem(
        "cupti",
        "CUPTI dropped records: GPU activity and CUDA calls are missing (raise limits.host_memory if it is "
        "below 2GiB)");
  if (now.times.all() > 0) recorder::problem("cupti", "CUPTI's records with impossible times were left out");
  if (now.launches > now.graphs) {
    recorder::problem("cupti", "CUPTI never delivered the device activity of some launches");
  }
  if (now.graphs > 0) {
    recorder::problem(
        "cupti",
        "some launches of CUDA graphs have no kernels: CUPTI may miss graphs that were made before CUPTI was first "
        "switched on (begin the first window earlier, or raise schedule.warmup)");
  }
  if (now.repeated_ids > 0) {
    recorder::problem("cupti",
                      "CUPTI gave launches of a thread one correlation id: their kernels are tied to one call or to "
                      "none (this happens after another client of CUPTI has recorded)");
  }
  if (now.uncertain_graph_nodes > 0) {
    recorder::problem(
        "cupti",
        "kernels of CUDA graphs may be tied to the wrong launch of their graph: CUPTI 13.0 and 13.1 mix "
        "up launches in all recordings of a process but the first (install CUPTI 13.1 update 1 or later)");
  }
}

/// Not counted: events that are there but joined to the wrong launch or to none, copies and memsets that may have had
/// no bytes, calls whose thread is unknown, records that no release of Kineto shows, and other clients' buffers.
std::uint64_t records_missing(const Losses& now, const BufferPool::Counts& counts) {
  return now.by_cupti + now.times.all() + now.launches + now.kept_buffers + now.flushes + now.truncated +
         counts.overwritten + counts.unread;
}

void add_buffer_problems(const Losses& now, const BufferPool::Counts& counts) {
  if (now.kept_buffers > 0) {
    recorder::problem(
        "cupti",
        "CUPTI did not return all buffers in time, perhaps because GPU activity still ran: CUDA calls and GPU activity "
        "may be missing");
  }
  if (now.truncated > 0)
    recorder::problem("cupti", "CUPTI returned buffers that end inside a record: the rest of each buffer is missing");
  if (counts.overwritten > 0) {
    recorder::problem("cupti",
                      "CUPTI filled buffers faster than profshim read them: GPU activity is missing (raise "
                      "limits.host_memory if it is below 2GiB)");
  }
  if (counts.unread > 0) {
    recorder::problem("cupti",
                      "CUPTI wanted more buffers at a time than profshim has: GPU activity is missing (raise "
                      "limits.host_memory if it is below 2GiB)");
  }
  if (counts.foreign > 0)
    recorder::problem("cupti",
                      "CUPTI returned buffers of another client to profshim: that client lost the records in them");
}

}  // namespace

void CaptureReport::write_losses(Capture& capture) {
  const Losses now = capture.converter().losses();
  const BufferPool::Counts counts = capture.pool().counts();
  const std::uint64_t unknown_threads = capture.converter().calls_of_unknown_threads();
  if (now == losses_ && counts == counts_ && unknown_threads == unknown_threads_) return;
  if (now.flushes > 0 && losses_.flushes == 0) {
    log::line(LogLevel::kWarn, "CUPTI refused a flush of its records: GPU activity may be missing");
    recorder::problem("cupti", "CUPTI refused a flush of its records: GPU activity may be missing");
  }
  const std::uint64_t lost = records_missing(now, counts), lost_before = records_missing(losses_, counts_);
  if (lost > lost_before) recorder::count_loss(Loss::device_lost, lost - lost_before);
  losses_ = now;
  counts_ = counts;
  unknown_threads_ = unknown_threads;
  recorder::add_metadata(schema::ours::gpu_losses::kKey, losses_json(now, counts, unknown_threads));
  add_loss_problems(now);
  add_buffer_problems(now, counts);
}

void CaptureReport::write_not_recorded(const Capture& capture) {
  if (capture.not_recorded() == not_recorded_) return;
  not_recorded_ = capture.not_recorded();
  if (!not_recorded_.empty()) recorder::missing("cupti", "CUPTI does not record: " + not_recorded_);
}

}  // namespace profshim::device
