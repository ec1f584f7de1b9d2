#include "said.h"

#include <cstdio>

#include "profshim/base/log.h"
#include "profshim/recorder_control.h"

namespace profshim::device {

void say_fact(std::string_view key, const std::string& json) {
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern(key), recorder::intern(json, spool::kMaxText));
}

void Said::versions(Capture& capture) {
  if (versions_) return;
  versions_ = true;
  say_fact("cupti_version", std::to_string(capture.version()));
  if (const int version = driver_version(); version > 0) say_fact("cuda_driver_version", std::to_string(version));
  if (const int version = runtime_version(); version > 0) say_fact("cuda_runtime_version", std::to_string(version));
  say_fact("device_timing",
           std::string("{\"method\": \"cupti\", \"clock\": \"") + capture.converter().clock().name() + "\"}");
}

void Said::losses(Capture& capture) {
  const Losses now = capture.converter().losses();
  const BufferPool::Counts counts = capture.pool().counts();
  const std::uint64_t of_unknown_threads = capture.converter().calls_of_unknown_threads();
  if (now == losses_ && counts == counts_ && of_unknown_threads == of_unknown_threads_) return;
  of_unknown_threads_ = of_unknown_threads;
  if (now.flushes > 0 && losses_.flushes == 0) {
    log::line(LogLevel::kWarn, "CUPTI does not hand over what it has recorded: GPU activity is missing");
    recorder::problem("cupti", "CUPTI did not hand over what it had recorded: GPU activity is missing");
  }
  losses_ = now;
  counts_ = counts;
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
                static_cast<unsigned long long>(now.launches), static_cast<unsigned long long>(of_unknown_threads),
                static_cast<unsigned long long>(now.kept_buffers), static_cast<unsigned long long>(now.graphs),
                static_cast<unsigned long long>(now.uncertain_graph_nodes),
                static_cast<unsigned long long>(now.flushes), static_cast<unsigned long long>(now.unknown_kinds),
                static_cast<unsigned long long>(now.truncated), static_cast<unsigned long long>(counts.refused),
                static_cast<unsigned long long>(counts.reserved), static_cast<unsigned long long>(counts.overwritten),
                static_cast<unsigned long long>(counts.unread), static_cast<unsigned long long>(counts.foreign));
  say_fact("gpu_losses", json);
  if (now.by_cupti > 0) recorder::problem("cupti", "CUPTI dropped records: device work and CUDA calls are missing");
  if (now.impossible_times() > 0) recorder::problem("cupti", "records with impossible times were left out");
  if (now.launches > now.graphs) {
    recorder::problem("cupti", "the device work of some launches was never delivered");
  }
  if (now.graphs > 0) {
    recorder::problem("cupti",
                      "launches of CUDA graphs are without their kernels: CUPTI may not record graphs that were made "
                      "before CUPTI was first switched on");
  }
  if (now.uncertain_graph_nodes > 0) {
    recorder::problem("cupti",
                      "kernels of CUDA graphs may be tied to the wrong launch of their graph: CUPTI 13.0 mixes them up "
                      "in every recording of a process but the first (mended in 13.1 update 1)");
  }
  if (now.kept_buffers > 0) {
    recorder::problem("cupti",
                      "CUPTI kept buffers, since work in them had not ended when the recording did: calls and device "
                      "work may be missing");
  }
  if (now.truncated > 0) recorder::problem("cupti", "buffers of CUPTI ended inside a record: what followed is missing");
  if (counts.overwritten > 0) {
    recorder::problem("cupti", "CUPTI filled its buffers faster than they were read: some records are missing");
  }
  if (counts.unread > 0) {
    recorder::problem("cupti",
                      "CUPTI wanted more buffers at a time than the recording has memory for: records are missing");
  }
  if (counts.foreign > 0) recorder::problem("cupti", "buffers came back that are another client's");
}

void Said::not_recorded(const Capture& capture) {
  if (capture.not_recorded() == not_recorded_) return;
  not_recorded_ = capture.not_recorded();
  if (!not_recorded_.empty()) recorder::problem("cupti", "CUPTI refused to record: " + not_recorded_);
}

}  // namespace profshim::device
