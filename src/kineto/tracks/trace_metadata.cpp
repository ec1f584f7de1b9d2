#include "trace_metadata.h"

#include <algorithm>

#include "profshim/base/text/number_text.h"
#include "profshim/base/version.h"
#include "profshim/json.h"
#include "profshim/json/writer.h"
#include "profshim/spec.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

namespace ours = schema::ours;

using Members = std::vector<std::pair<std::string, std::string>>;

std::string number(double value) { return rounded_text(value, 6); }

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
    // With NCCL, PyTorch's groups only duplicate NCCL's communicators.
    if (c.backend == spool::CommunicatorBackend::kTorch) {
      if (!has_nccl) out.groups.push_back(torch_group(c, window.collectives));
      continue;
    }
    const bool nccl = c.backend == spool::CommunicatorBackend::kNccl;
    if (nccl) out.backend = schema::distributed::kNcclBackend;
    out.groups.push_back(
        {c.identity, std::string(c.name), std::string(c.all_ranks), c.size, nccl ? "cuda:nccl" : "mpi"});
  }
  if (!has_nccl && definitions.has(spool::CommunicatorBackend::kTorch)) {
    out.backend = name_of_backend(window.collectives);
  }
  if (out.groups.empty()) out.backend = "unknown";
}

// "lost_in_process" counts losses of all windows: the window of a lost record is unknown.
std::string device_json(const WindowEvents& window) {
  const DeviceCounts& n = window.device.counts();
  std::uint64_t lost = 0;
  for (std::uint32_t i = 0; i < window.view.header().thread_count; ++i) {
    const spool::Thread& t = window.view.thread(i);
    if (t.tid.load(std::memory_order_relaxed) == spool::kDeviceTid) lost += t.dropped.load(std::memory_order_relaxed);
  }
  namespace device = ours::device_activity;
  JsonWriter json;
  json.open_object().member(device::kApiCalls, n.api_calls).member(device::kKernels, n.kernels);
  json.member(device::kCopies, n.copies).member(device::kMemsets, n.memsets).member(device::kGraphsAsOne, n.graphs);
  json.member(device::kOrphans, n.orphans).member(device::kOverlaps, n.overlapping);
  json.member(device::kSyncsWithoutDevice, n.placeless).key(device::kImpossibleTimes).open_object();
  json.member(device::kZero, n.times.zero).member(device::kReversed, n.times.reversed);
  json.member(device::kOutside, n.times.outside).close_object();
  return json.member(device::kLostInProcess, lost).close_object().text();
}

std::string steps_json(const WindowEvents& window) {
  namespace steps = ours::steps;
  const spool::View& view = window.view;
  const spool::SpoolHeader& h = view.header();
  JsonWriter json;
  json.open_object().member(steps::kSource, view.string(h.step_source));
  if (!window.steps.empty()) {
    const std::vector<spool::StepMark>& marks = window.steps.marks();
    json.member(steps::kFirst, window.summary.first_step).member(steps::kLast, window.summary.last_step);
    json.member(steps::kFirstIndex, marks.front().index).member(steps::kLastIndex, marks.back().index);
  }
  if (const std::string_view marker = view.string(h.step_marker); !marker.empty())
    json.member(steps::kFirstMarker, marker);
  if (h.step_confidence != 0) json.member(steps::kConfidence, view.string(h.step_confidence));
  return json.member(steps::kOtherBoundaries, h.foreign_boundaries.load()).close_object().text();
}

std::string phase_json(const WindowEvents& window) {
  namespace phase = ours::phase;
  const spool::Window& w = window.window;
  JsonWriter json;
  json.open_object().key(phase::kName).bytes(window.summary.phase).member(phase::kOccurrence, w.occurrence);
  if (w.step != kNoStepNumber) json.member(phase::kStep, w.step);
  if (w.ticks > 0) json.member(phase::kFirstTick, w.end_mark).member(phase::kTicks, w.ticks);
  const bool at_exit = window.ended_by == spool::WindowEnd::kExit || window.ended_by == spool::WindowEnd::kNone;
  if (at_exit || window.limit == phase::kMaxSeconds) json.member(phase::kUnclosed, true);
  return json.close_object().text();
}

std::string problems_json(const WindowEvents& window) {
  JsonWriter json;
  const auto add = [&json](std::string_view source, std::string_view sentence) {
    json.open_object().member(ours::problem::kSource, source).member(ours::problem::kLost, sentence).close_object();
  };
  json.open_list();
  for (const Definitions::Problem& p : window.definitions.problems()) add(p.source, p.sentence);
  if (window.is_of_search()) {
    add(ours::steps::kKey,
        "the process was killed before its steps were found: this trace has none, and holds all that was recorded; "
        "profshim explain --steps TRACE names the loop in it, if there is one");
  }
  if (const std::string lost = window.python_problem(); !lost.empty()) add("python", lost);
  if (const std::string lost = threads_lost_sentence(window.view.header()); !lost.empty()) add("threads", lost);
  return json.close_list().text();
}

std::string clock_json(const WindowEvents& window) {
  namespace clock = ours::clock;
  const std::vector<Anchor> anchors = window.view.anchors();
  JsonWriter json;
  json.open_object().member(clock::kKind, name_of(window.view.header().clock));
  json.key(clock::kTicksPerNs).raw(number(window.clock.ticks_per_ns()));
  json.member(clock::kWallClockShift, window.clock.realtime_shift_ns());
  if (!anchors.empty()) {
    json.key(clock::kAnchors).open_list();
    for (const Anchor& anchor : {anchors.front(), anchors.back()}) {
      json.open_list().value(anchor.ticks).value(anchor.monotonic_ns).value(anchor.realtime_ns).close_list();
    }
    json.close_list();
  }
  return json.close_object().text();
}

std::string cpu_json(const CpuUse& use) {
  namespace cpu = ours::cpu;
  JsonWriter json;
  json.open_object().key(cpu::kMeasured).raw(number(use.measured_us)).key(cpu::kWaited).raw(number(use.waited_us));
  json.key(cpu::kProcess).raw(number(use.process_us)).key(cpu::kMachine).raw(number(use.machine_us));
  json.key(cpu::kStolen).raw(number(use.stolen_us)).member(cpu::kCpus, use.cpus);
  return json.close_object().text();
}

std::string flag(bool value) { return value ? "true" : "false"; }

/// The count of each kind of loss. threads_lost counts since the process began.
void add_losses(const WindowEvents& window, Members& out) {
  constexpr std::string_view kAlways[] = {ours::kDroppedEvents, "names_lost", "definitions_lost", ours::kThreadsLost,
                                          "pending_lost"};
  const WindowLosses losses = window.losses();
  for (const std::string_view key : kAlways) {
    const int row = loss_row_of(key);
    const std::uint64_t count =
        row >= 0 ? losses.counts[static_cast<std::size_t>(row)] : window.view.header().threads_lost.load();
    out.emplace_back(key, std::to_string(count));
  }
  for (std::size_t i = 0; i < std::size(kLossRows); ++i) {
    const bool is_known = std::find(std::begin(kAlways), std::end(kAlways), kLossRows[i].key) != std::end(kAlways);
    if (!is_known && losses.counts[i] > 0) out.emplace_back(kLossRows[i].key, std::to_string(losses.counts[i]));
  }
  if (window.summary.complete) return;
  JsonWriter json;
  json.open_list();
  for (const std::string& sentence : window.summary.missing) json.bytes(sentence);
  out.emplace_back(ours::kMissing, json.close_list().text());
}

void add_profshim_members(const WindowEvents& window, const WindowTraceOptions& options, Members& out) {
  const spool::View& view = window.view;
  const spool::SpoolHeader& h = view.header();
  const auto text = [](std::string_view value) { return json_string(value); };
  out.emplace_back(ours::kVersion, text(kVersion));
  out.emplace_back(ours::kRunName, text(view.string(h.run_name)));
  out.emplace_back(ours::kCommand, text(view.string(h.command)));
  out.emplace_back(ours::kRankSource, text(view.string(h.rank_source)));
  out.emplace_back(ours::kLocalRank, std::to_string(h.local_rank));
  out.emplace_back(ours::kLocalWorldSize, std::to_string(h.local_world_size));
  out.emplace_back(ours::kNodeRank, std::to_string(h.node_rank));
  out.emplace_back(ours::kWindow, std::to_string(window.window.number));
  out.emplace_back(ours::kComplete, flag(window.summary.complete));
  out.emplace_back(ours::kTruncated, flag(window.summary.truncated));
  if (!window.limit.empty()) out.emplace_back(ours::kLimit, text(window.limit));
  out.emplace_back(ours::kRecovered, flag(options.recovered));
  out.emplace_back(ours::steps::kKey, steps_json(window));
  if (window.window.phase != 0) out.emplace_back(ours::phase::kKey, phase_json(window));
  out.emplace_back(ours::kCalls, std::to_string(window.summary.calls));
  add_losses(window, out);
  if (!window.device.empty()) out.emplace_back(ours::device_activity::kKey, device_json(window));
  if (!window.nccl_tasks.empty()) out.emplace_back(ours::nccl_tasks::kKey, window.nccl_tasks.summary());
  out.emplace_back(ours::problem::kKey, problems_json(window));
  out.emplace_back(ours::clock::kKey, clock_json(window));
  if (options.overhead_percent >= 0) out.emplace_back(ours::kOverheadPercent, number(options.overhead_percent));
  if (options.stall_us >= 0) out.emplace_back(ours::kStallUs, number(options.stall_us));
  if (options.cpu) out.emplace_back(ours::cpu::kKey, cpu_json(*options.cpu));
  constexpr std::int64_t kAnyStack = spool::kPythonStack | spool::kNativeStack;
  for (const auto& [key, bits] :
       {std::pair{schema::top::kRecordShapes, std::int64_t{spool::kShapes}},
        std::pair{schema::top::kWithFlops, std::int64_t{spool::kFlops}}, std::pair{schema::top::kWithStack, kAnyStack},
        std::pair{schema::top::kWithModules, std::int64_t{spool::kModules}}}) {
    if ((window.detail & bits) != 0) out.emplace_back(std::string(key), "1");
  }
  for (const Definitions::JsonMember& member : window.definitions.json_members())
    out.emplace_back(std::string(member.key), std::string(member.json));
  out.emplace_back(ours::kSpec, text(view.string(h.spec, spool::kMaxText)));
}

// Trace readers look for these members outside the "profshim" object.
void move_kineto_members(TraceHeader& header) {
  const auto move_to = [&header](Members& to, std::string_view key) {
    const auto at = std::find_if(header.profshim.begin(), header.profshim.end(),
                                 [key](const auto& member) { return member.first == key; });
    if (at == header.profshim.end()) return;
    to.push_back(std::move(*at));
    header.profshim.erase(at);
  };
  for (const std::string_view key :
       {schema::top::kCuptiVersion, schema::top::kCudaRuntimeVersion, schema::top::kCudaDriverVersion,
        schema::top::kRecordShapes, schema::top::kWithFlops, schema::top::kWithStack, schema::top::kWithModules,
        schema::top::kProfileMemory}) {
    move_to(header.members, key);
  }
  // As in PyTorch, only the "nccl" backend has a version. Without a rank there is no distributedInfo.
  namespace distributed = schema::distributed;
  if (header.backend == distributed::kNcclBackend && header.rank.rank >= 0) {
    move_to(header.distributed, distributed::kNcclVersion);
  }
}

std::string left_out_json(const LeftOut& left_out) {
  namespace key = ours::left_out;
  LeftOut::Sum all;
  for (const auto& [category, sum] : left_out.sums()) {
    all.events += sum.events;
    all.ns += sum.ns;
  }
  JsonWriter json;
  const auto write = [&json](const LeftOut::Sum& sum) {
    json.member(key::kEvents, sum.events).key(key::kUs).decimal(static_cast<double>(sum.ns) / 1000, 3);
  };
  json.open_object();
  write(all);
  json.key(key::kCategories).open_object();
  for (const auto& [category, sum] : left_out.sums()) {
    json.key(category).open_object();
    write(sum);
    json.close_object();
  }
  return json.close_object().close_object().text();
}

}  // namespace

TraceHeader trace_metadata(const WindowEvents& window, const WindowTraceOptions& options,
                           const std::vector<std::string>& devices, const LeftOut* left_out) {
  const spool::SpoolHeader& h = window.view.header();
  TraceHeader out;
  out.rank = window.view.rank();
  out.base_time_ns = h.base_time_ns;
  out.trace_name = options.trace_name;
  add_groups(window, out);
  out.devices = devices;
  add_profshim_members(window, options, out.profshim);
  if (left_out != nullptr) out.profshim.emplace_back(ours::left_out::kKey, left_out_json(*left_out));
  move_kineto_members(out);
  return out;
}

}  // namespace profshim::kineto
