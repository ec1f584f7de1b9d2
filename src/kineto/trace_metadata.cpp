#include "trace_metadata.h"

#include <algorithm>
#include <cstdio>

#include "profshim/base/version.h"
#include "profshim/spec.h"

namespace profshim::kineto {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string name_of_backend(const TorchCollectives& collectives) {
  return collectives.backend().empty() ? "unknown" : std::string(collectives.backend());
}

TraceHeader::Group torch_group(const Communicator& c, const TorchCollectives& collectives) {
  const bool is_first = c.name == "0";
  return {std::string(c.name), is_first ? "default_pg" : "undefined", std::string(c.all_ranks), c.size,
          name_of_backend(collectives)};
}

void add_groups(const WindowEvents& window, TraceHeader& out) {
  const Definitions& definitions = window.definitions;
  const bool has_nccl = definitions.has(spool::CommunicatorBackend::kNccl);
  for (const auto& [id, c] : definitions.communicators()) {
    // PyTorch's groups and NCCL's communicators are the same groups: show NCCL's if there are any.
    if (c.backend == spool::CommunicatorBackend::kTorch) {
      if (!has_nccl) out.groups.push_back(torch_group(c, window.collectives));
      continue;
    }
    const bool nccl = c.backend == spool::CommunicatorBackend::kNccl;
    if (nccl) out.backend = "nccl";
    out.groups.push_back(
        {c.identity, std::string(c.name), std::string(c.all_ranks), c.size, nccl ? "cuda:nccl" : "mpi"});
  }
  if (!has_nccl && definitions.has(spool::CommunicatorBackend::kTorch)) {
    out.backend = name_of_backend(window.collectives);
  }
  if (out.groups.empty()) out.backend = "unknown";
}

// Counts of CUPTI's records in this window. lost_in_process counts the whole process so far: the window of a lost
// record is unknown.
std::string device_json(const WindowEvents& window) {
  const DeviceCounts& n = window.device.counts();
  std::uint64_t lost = 0;
  for (std::uint32_t i = 0; i < window.view.header().thread_count; ++i) {
    const spool::Thread& t = window.view.thread(i);
    if (t.tid.load(std::memory_order_relaxed) == spool::kDeviceTid) lost += t.dropped.load(std::memory_order_relaxed);
  }
  const auto member = [](const char* key, std::uint64_t value) {
    return std::string("\"") + key + "\": " + std::to_string(value);
  };
  return "{" + member("api_calls", n.api_calls) + ", " + member("kernels", n.kernels) + ", " +
         member("copies", n.copies) + ", " + member("memsets", n.memsets) + ", " + member("graphs_as_one", n.graphs) +
         ", " + member("device_orphans", n.orphans) + ", " + member("device_overlaps", n.overlapping) + ", " +
         member("syncs_without_device", n.placeless) + ", \"impossible_times\": {" + member("zero", n.zero_time) +
         ", " + member("reversed", n.reversed_time) + ", " + member("outside", n.outside_time) + "}, " +
         member("lost_in_process", lost) + "}";
}

std::string steps_json(const WindowEvents& window) {
  const spool::View& view = window.view;
  const spool::SpoolHeader& h = view.header();
  std::string json = "{\"source\": " + json_string(view.string(h.step_source));
  if (!window.steps.empty()) {
    const std::vector<spool::StepMark>& marks = window.steps.marks();
    json += ", \"first\": " + std::to_string(window.summary.first_step) +
            ", \"last\": " + std::to_string(window.summary.last_step) +
            ", \"first_index\": " + std::to_string(marks.front().index) +
            ", \"last_index\": " + std::to_string(marks.back().index);
  }
  if (const std::string_view marker = view.string(h.step_marker); !marker.empty()) {
    json += ", \"first_marker\": " + json_string(marker);
    if (view.string(h.step_source) == "auto")
      json += ", \"confidence\": \"" + std::string(step_confidence(marker)) + '"';
  }
  return json + ", \"boundaries_of_other_threads\": " + std::to_string(h.foreign_boundaries.load()) + "}";
}

std::string problems_json(const WindowEvents& window) {
  std::string json = "[";
  const auto add = [&json](std::string_view source, std::string_view sentence) {
    json += json.size() > 1 ? ", " : "";
    json += "{\"source\": " + json_string(source) + ", \"lost\": " + json_string(sentence) + "}";
  };
  for (const Definitions::Problem& p : window.definitions.problems()) add(p.source, p.sentence);
  if (const std::string lost = threads_lost_sentence(window.view.header()); !lost.empty()) add("threads", lost);
  return json + "]";
}

std::string clock_json(const WindowEvents& window) {
  const std::vector<Anchor> anchors = window.view.anchors();
  std::string json = std::string("{\"kind\": \"") + name_of(window.view.header().clock) +
                     "\", \"ticks_per_ns\": " + number(window.clock.ticks_per_ns()) +
                     ", \"wall_clock_shift_ns\": " + std::to_string(window.clock.realtime_shift_ns());
  if (!anchors.empty()) {
    const auto anchor = [](const Anchor& a) {
      return "[" + std::to_string(a.ticks) + ", " + std::to_string(a.monotonic_ns) + ", " +
             std::to_string(a.realtime_ns) + "]";
    };
    json += ", \"anchors\": [" + anchor(anchors.front()) + ", " + anchor(anchors.back()) + "]";
  }
  return json + "}";
}

std::string cpu_json(const CpuUse& cpu) {
  return "{\"measured_us\": " + number(cpu.measured_us) + ", \"waited_us\": " + number(cpu.waited_us) +
         ", \"process_us\": " + number(cpu.process_us) + ", \"machine_us\": " + number(cpu.machine_us) +
         ", \"stolen_us\": " + number(cpu.stolen_us) + ", \"cpus\": " + std::to_string(cpu.cpus) + "}";
}

std::string flag(bool value) { return value ? "true" : "false"; }

void add_losses(const WindowEvents& window, Members& out) {
  const spool::SpoolHeader& h = window.view.header();
  out.emplace_back("dropped_events", std::to_string(window.summary.dropped));
  if (window.memory_left_out > 0) out.emplace_back("memory_entries_left_out", std::to_string(window.memory_left_out));
  out.emplace_back("names_lost", std::to_string(h.strings_lost.load()));
  out.emplace_back("definitions_lost", std::to_string(h.definitions_lost.load()));
  out.emplace_back("threads_lost", std::to_string(h.threads_lost.load()));
  out.emplace_back("pending_lost", std::to_string(h.pending_lost.load()));
}

void add_profshim_members(const WindowEvents& window, const WindowTraceOptions& options, Members& out) {
  const spool::View& view = window.view;
  const spool::SpoolHeader& h = view.header();
  const auto text = [](std::string_view value) { return json_string(value); };
  out.emplace_back("version", text(kVersion));
  out.emplace_back("run_name", text(view.string(h.run_name)));
  out.emplace_back("command", text(view.string(h.command)));
  out.emplace_back("rank_source", text(view.string(h.rank_source)));
  out.emplace_back("local_rank", std::to_string(h.local_rank));
  out.emplace_back("local_world_size", std::to_string(h.local_world_size));
  out.emplace_back("node_rank", std::to_string(h.node_rank));
  out.emplace_back("window", std::to_string(window.window.number));
  out.emplace_back("complete", flag(window.summary.complete));
  out.emplace_back("truncated", flag(window.summary.truncated));
  if (!window.limit.empty()) out.emplace_back("limit", text(window.limit));
  out.emplace_back("recovered", flag(options.recovered));
  out.emplace_back("steps", steps_json(window));
  out.emplace_back("calls", std::to_string(window.summary.calls));
  add_losses(window, out);
  if (!window.device.empty()) out.emplace_back("device", device_json(window));
  if (!window.nccl_tasks.empty()) out.emplace_back("nccl_tasks", window.nccl_tasks.summary());
  out.emplace_back("problems", problems_json(window));
  out.emplace_back("clock", clock_json(window));
  if (options.overhead_percent >= 0) out.emplace_back("overhead_percent", number(options.overhead_percent));
  if (options.stall_us >= 0) out.emplace_back("stall_us", number(options.stall_us));
  if (options.cpu) out.emplace_back("cpu", cpu_json(*options.cpu));
  for (const Definitions::JsonMember& member : window.definitions.json_members())
    out.emplace_back(std::string(member.key), std::string(member.json));
  out.emplace_back("spec", text(view.string(h.spec, spool::kMaxText)));
}

// Kineto has these members outside the "profshim" object, and readers look for them there.
void move_kineto_members(TraceHeader& header) {
  const auto move_to = [&header](Members& to, const char* key) {
    const auto at = std::find_if(header.profshim.begin(), header.profshim.end(),
                                 [key](const auto& member) { return member.first == key; });
    if (at == header.profshim.end()) return;
    to.push_back(std::move(*at));
    header.profshim.erase(at);
  };
  for (const char* const key : {"cupti_version", "cuda_runtime_version", "cuda_driver_version", "record_shapes",
                                "with_flops", "with_stack", "profile_memory"}) {
    move_to(header.members, key);
  }
  // PyTorch writes it for the backend "nccl" only; without a rank there is no distributedInfo.
  if (header.backend == "nccl" && header.rank.rank >= 0) move_to(header.distributed, "nccl_version");
}

}  // namespace

TraceHeader trace_metadata(const WindowEvents& window, const WindowTraceOptions& options,
                           const std::vector<std::string>& devices) {
  const spool::SpoolHeader& h = window.view.header();
  TraceHeader out;
  out.rank.rank = h.rank;
  out.rank.world_size = h.world_size;
  out.rank.local_rank = h.local_rank;
  out.rank.local_world_size = h.local_world_size;
  out.rank.node_rank = h.node_rank;
  out.rank.host = window.view.string(h.host);
  out.rank.source = window.view.string(h.rank_source);
  out.base_time_ns = h.base_time_ns;
  out.trace_name = options.trace_name;
  add_groups(window, out);
  out.devices = devices;
  add_profshim_members(window, options, out.profshim);
  move_kineto_members(out);
  return out;
}

}  // namespace profshim::kineto
