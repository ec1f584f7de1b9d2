#include "capture_report.h"

#include <cstdio>

#include "profshim/base/log.h"
#include "profshim/recorder_control.h"

namespace profshim::device {

void write_fact(std::string_view key, const std::string& json) {
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern(key), recorder::intern(json, spool::kMaxText));
}

void CaptureReport::write_versions(Capture& capture) {
  if (versions_) return;
  versions_ = true;
  write_fact("cupti_version", std::to_string(capture.version()));
  if (const int version = driver_version(); version > 0) write_fact("cuda_driver_version", std::to_string(version));
  if (const int version = runtime_version(); version > 0) write_fact("cuda_runtime_version", std::to_string(version));
  write_fact("device_timing",
             std::string("{\"method\": \"cupti\", \"clock\": \"") + capture.converter().clock().name() + "\"}");
}

namespace {

std::string losses_json(const Losses& now, const BufferPool::Counts& counts, std::uint64_t unknown_threads) {
  char json[768];
  std::snprintf(json, sizeof json,
                "{\"dropped_by_cupti\": %llu, \"no_time\": %llu, \"end_before_begin\": %llu, \"outside\": %llu, "
                "\"launches_without_work\": %llu, \"calls_of_unknown_threads\": %llu, \"buffers_kept\": %llu, "
                "\"graphs_without_work\": %llu, \"uncertain_graph_nodes\": %llu, "
                "\"refused_flushes\": %llu, \"unknown_records\": %llu, "
                "\"truncated_buffers\": %llu, "
                "\"buffers_refused\": %llu, \"buffers_from_reserve\": %llu, \"buffers_overwritten\": %llu, "
                "\"buffers_unread\": %llu, \"foreign_buffers\": %llu}",
                static_cast<unsigned long long>(now.by_cupti), static_cast<unsigned long long>(now.no_time),
                static_cast<unsigned long long>(now.backwards), static_cast<unsigned long long>(now.outside),
                static_cast<unsigned long long>(now.launches), static_cast<unsigned long long>(unknown_threads),
                static_cast<unsigned long long>(now.kept_buffers), static_cast<unsigned long long>(now.graphs),
                static_cast<unsigned long long>(now.uncertain_graph_nodes),
                static_cast<unsigned long long>(now.flushes), static_cast<unsigned long long>(now.unknown_kinds),
                static_cast<unsigned long long>(now.truncated), static_cast<unsigned long long>(counts.refused),
                static_cast<unsigned long long>(counts.reserved), static_cast<unsigned long long>(counts.overwritten),
                static_cast<unsigned long long>(counts.unread), static_cast<unsigned long long>(counts.foreign));
  return json;
}

void add_loss_problems(const Losses& now) {
  if (now.by_cupti > 0) recorder::problem("cupti", "CUPTI dropped records: device activity and CUDA calls are missing");
  if (now.impossible_times() > 0) recorder::problem("cupti", "records with impossible times were left out");
  if (now.launches > now.graphs) {
    recorder::problem("cupti", "CUPTI never delivered the device activity of some launches");
  }
  if (now.graphs > 0) {
    recorder::problem(
        "cupti",
        "launches of CUDA graphs have no kernels: CUPTI may not record graphs that were made before CUPTI "
        "was first switched on");
  }
  if (now.uncertain_graph_nodes > 0) {
    recorder::problem("cupti",
                      "kernels of CUDA graphs may be tied to the wrong launch of their graph: CUPTI 13.0 mixes them up "
                      "in every recording of a process but the first (fixed in 13.1 update 1)");
  }
}

void add_buffer_problems(const Losses& now, const BufferPool::Counts& counts) {
  if (now.kept_buffers > 0) {
    recorder::problem(
        "cupti",
        "CUPTI kept buffers because device activity in them had not ended when the recording ended: calls "
        "and device activity may be missing");
  }
  if (now.truncated > 0)
    recorder::problem("cupti", "CUPTI returned buffers that end inside a record: the rest of each is missing");
  if (counts.overwritten > 0) {
    recorder::problem("cupti", "CUPTI filled its buffers faster than they were read: some records are missing");
  }
  if (counts.unread > 0) {
    recorder::problem("cupti",
                      "CUPTI wanted more buffers at a time than the recording has memory for: records are missing");
  }
  if (counts.foreign > 0) recorder::problem("cupti", "CUPTI returned buffers of another client");
}

}  // namespace

void CaptureReport::write_losses(Capture& capture) {
  const Losses now = capture.converter().losses();
  const BufferPool::Counts counts = capture.pool().counts();
  const std::uint64_t unknown_threads = capture.converter().calls_of_unknown_threads();
  if (now == losses_ && counts == counts_ && unknown_threads == unknown_threads_) return;
  if (now.flushes > 0 && losses_.flushes == 0) {
    log::line(LogLevel::kWarn, "CUPTI does not hand over what it has recorded: GPU activity is missing");
    recorder::problem("cupti", "CUPTI did not hand over what it had recorded: GPU activity is missing");
  }
  losses_ = now;
  counts_ = counts;
  unknown_threads_ = unknown_threads;
  write_fact("gpu_losses", losses_json(now, counts, unknown_threads));
  add_loss_problems(now);
  add_buffer_problems(now, counts);
}

void CaptureReport::write_not_recorded(const Capture& capture) {
  if (capture.not_recorded() == not_recorded_) return;
  not_recorded_ = capture.not_recorded();
  if (!not_recorded_.empty()) recorder::problem("cupti", "CUPTI refused to record: " + not_recorded_);
}

}  // namespace profshim::device
