// From a spool to a trace: gathers the events of one window, orders them per thread, gives them their Kineto form.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <span>

#include "call_stacks.h"
#include "folded_stacks.h"
#include "kineto/args/event_args.h"
#include "kineto/args/memory_args.h"
#include "kineto/args/nccl_args.h"
#include "kineto/args/nccl_tasks.h"
#include "kineto/args/torch_comms.h"
#include "kineto/device/annotations.h"
#include "kineto/device/tracks.h"
#include "kineto/device/work.h"
#include "lanes.h"
#include "operations.h"
#include "profshim/base/shared_words.h"
#include "profshim/base/version.h"
#include "profshim/spec.h"
#include "profshim/window_trace.h"
#include "torch_links.h"

namespace profshim::kineto {
namespace {

// A lane of slices that overlap those of thread T in part gets the tid T + kLaneStep * lane. Real tids end at 2^22.
constexpr std::int64_t kLaneStep = 10'000'000;
constexpr std::uint64_t kProgressEvery = 4096;
// A thread whose tid could not be found has a key of its own: CUPTI's number of it plus this.
constexpr std::int64_t kRawThreads = std::int64_t{1} << 32;
constexpr double kSecondNs = 1e9;

struct ThreadEvents {
  std::string name;
  std::vector<const Event*> events;
};

// A slice to be written: what sorts, and where it comes from.
struct Slice {
  Ticks begin, end;
};
bool before(const Slice& a, const Slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; }

std::int64_t shown_tid(std::int64_t key, int lane = 0) {
  const std::int64_t tid = key + lane * kLaneStep;
  if (key < kRawThreads) return tid;
  const std::int64_t raw = tid & (kRawThreads - 1);
  return raw != 0 ? raw : kRawThreads - 1;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

struct WindowTraceBuilder::Impl {
  const spool::View& view;
  WindowTraceOptions options;
  Ticks begin = 0, end = 0;
  spool::WindowEnd ended_by = spool::WindowEnd::kNone;
  std::uint64_t window_number = 0;
  std::string limit;
  Definitions definitions;
  NcclArgsText nccl_args;
  NcclTasks nccl_tasks;
  ClockMap clock;
  std::vector<spool::StepMark> marks;
  Ticks last_step_end = 0;
  std::int32_t step_tid = 0;
  std::map<std::int64_t, ThreadEvents> threads;  // by tid
  std::deque<Event> copies;                      // of events that change, or had not ended
  RunOrder run_order;
  DeviceWork device;
  Operations operations;
  DeviceAnnotations annotations;
  TorchLinks torch_links;
  TorchCollectives collectives;
  TorchComms comms;
  CallStacks stacks;
  Ticks memory_until = ~Ticks{0};  // limits.memory_entries: what began later is left out
  std::uint64_t memory_left_out = 0;
  bool only_life_cycle = true;
  WindowSummary summary;

  Impl(const spool::View& v, std::uint64_t window, const WindowTraceOptions& o)
      : view(v),
        options(o),
        definitions(v),
        nccl_args(definitions, v.header().rank),
        nccl_tasks(v),
        clock(v.anchors(), v.header().clock),
        device(v),
        annotations(v),
        collectives(v),
        comms(definitions, v),
        stacks(v, definitions) {
    const spool::Window& w = view.window(window);
    window_number = w.number;
    begin = std::max(w.begin, options.since);
    if (!options.only) {
      end = w.end.load(std::memory_order_acquire);
      ended_by = w.ended_by.load(std::memory_order_acquire);
      limit = view.string(w.limit_reason);
    }
    last_step_end = w.last_step_end.load(std::memory_order_relaxed);
    if (w.first_mark != spool::kNoMark) {
      const bool open = ended_by == spool::WindowEnd::kNone;
      marks = view.marks(w.first_mark, open ? view.header().marks.load(std::memory_order_acquire) : w.end_mark);
    }
    summary.complete = ended_by != spool::WindowEnd::kNone && w.complete != 0;
    summary.truncated = ended_by == spool::WindowEnd::kLimit;
    const Ticks until = end == 0 ? ~Ticks{0} : end;
    // What is open first: a call that ends meanwhile is then found twice, and known; the other way it would be lost.
    OpenCalls open = copy_open_calls(until);
    gather_runs(until);
    const WindowSpan span = span_until(until);
    if (!device.empty()) gather_calls(span);
    if (end == 0) end = latest_moment();
    add_unfinished(open);
    if (!device.empty()) gather_work(span);
    order();
    limit_memory();
    gather_operations();
    if (!device.empty()) gather_annotations();
    gather_torch_links();
    number_steps();
    const std::uint64_t lost_until = w.dropped_after.load(std::memory_order_acquire);
    const std::uint64_t lost = ended_by == spool::WindowEnd::kNone ? total_dropped() : lost_until;
    summary.dropped = lost > w.dropped_before ? lost - w.dropped_before : 0;
    const std::uint64_t threadless = ended_by == spool::WindowEnd::kNone
                                         ? spool::threadless_events(view.header())
                                         : w.threadless_after.load(std::memory_order_relaxed);
    if (threadless > w.threadless_before) summary.complete = false;
  }

  std::uint64_t total_dropped() const {
    std::uint64_t sum =
        view.header().dropped.load() + view.header().open_calls_lost.load() + spool::threadless_events(view.header());
    for (std::uint32_t i = 0; i < view.header().thread_count; ++i)
      sum += view.thread(i).dropped.load(std::memory_order_relaxed);
    return sum;
  }

  void gather_runs(Ticks until) {
    const auto gather = [this, until](const spool::Run& run) {
      run_order.add(run);
      if (run.header->tid == spool::kDeviceTid)
        device.add_run(run);
      else
        gather_run(run, until);
    };
    if (options.only)
      std::for_each(options.only->begin(), options.only->end(), gather);
    else
      view.for_each_run(gather);
  }

  void gather_run(const spool::Run& run, Ticks until) {
    ThreadEvents& thread = threads[run.header->tid];
    if (thread.name.empty()) thread.name.assign(run.header->name, strnlen(run.header->name, sizeof run.header->name));
    for (const Event& e : std::span(run.events, run.count)) {
      if (e.begin < begin || e.begin >= until || e.hook == HookId::kContinuation) continue;
      if (e.hook == HookId::kNcclTask) {
        nccl_tasks.add(e);
        continue;
      }
      note_kind(e.hook);
      // Its thread may extend it meanwhile.
      thread.events.push_back(e.hook == HookId::kMpiPolls ? &copies.emplace_back(load_words(e)) : &e);
    }
  }

  // Clocks are a little off, and a process may not have come to take an anchor in its last second.
  WindowSpan span_until(Ticks until) const {
    const double second = clock.ticks_per_ns() * kSecondNs;
    const auto early = static_cast<Ticks>(second), late = static_cast<Ticks>(60 * second);
    Ticks latest = end;
    for (const Anchor& a : view.anchors()) latest = std::max(latest, a.ticks);
    return {begin, until, begin > early ? begin - early : 1, latest + std::min(late, ~Ticks{0} - latest)};
  }

  // The API calls of a thread lie among its own events, in which they nest.
  void gather_calls(const WindowSpan& span) {
    device.gather_calls(span);
    std::map<std::int64_t, std::size_t> calls;
    device.for_each_call([&](const Event& call) { ++calls[key_of(call.api)]; });
    for (const auto& [key, count] : calls) threads[key].events.reserve(threads[key].events.size() + count);
    device.for_each_call([&](const Event& call) {
      if (!is_unfinished_call(call)) threads[key_of(call.api)].events.push_back(&call);
    });
  }

  void gather_work(const WindowSpan& span) {
    device.for_each_call([this](const Event& call) {
      if (!is_unfinished_call(call)) return;
      Event& copy = copies.emplace_back(call);
      copy.end = std::max(end, call.begin);
      copy.flags |= kUnfinished;
      threads[key_of(call.api)].events.push_back(&copy);
    });
    device.gather_work(span);
    const DeviceCounts& n = device.counts();
    summary.device = n.api_calls + n.kernels + n.copies + n.memsets + n.graphs;
    if (summary.device > 0) only_life_cycle = false;
  }

  void gather_operations() {
    for (const auto& [tid, thread] : threads) {
      for (const Event* e : thread.events) operations.add(*e);
    }
    operations.finish();
    nccl_tasks.finish(operations);
  }

  void gather_annotations() {
    for (const auto& [tid, thread] : threads) annotations.add_thread(thread.events, device.launches());
    annotations.finish(device, operations.count() + 1);
  }

  void gather_torch_links() {
    for (const auto& [tid, thread] : threads) {
      torch_links.add_thread(thread.events, device.launches());
      collectives.add_thread(tid, thread.events);
    }
    collectives.finish();
    torch_links.finish(first_torch_id());
  }

  std::uint64_t first_torch_id() const { return operations.count() + annotations.ranges() + 1; }

  void name_stacks() {
    if (definitions.modules().empty()) return;
    for (const auto& [tid, thread] : threads) {
      for (const Event* e : thread.events) stacks.add(stack_of(*e));
    }
    stacks.name_addresses();
  }

  static std::int64_t key_of(const ApiArgs& api) {
    return api.tid > 0 ? std::int64_t{api.tid} : kRawThreads + std::int64_t{api.raw_thread};
  }

  void note_kind(HookId hook) {
    if (hook != HookId::kStep && !begins_or_ends_mpi(hook)) only_life_cycle = false;
  }

  static bool is_unfinished_call(const Event& call) { return call.end == 0 || (call.flags & kUnfinished) != 0; }

  // Where an open window is taken to end: at the last thing that is known to have happened.
  Ticks latest_moment() const {
    Ticks latest = begin;
    for (const auto& [tid, thread] : threads) {
      for (const Event* e : thread.events) latest = std::max({latest, e->begin, e->end});
    }
    for (const spool::StepMark& m : marks) latest = std::max(latest, m.ticks);
    for (const Anchor& a : view.anchors()) latest = std::max(latest, a.ticks);
    for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
      for (const Event& e : view.thread(i).open) latest = std::max(latest, e.begin);
    }
    return latest + 1;
  }

  // The owner may be writing while we copy: taken only when begin is the same before and after.
  __attribute__((no_sanitize("thread"))) bool copy_open(const Event& source, Ticks until, Event& copy) const {
    const volatile Ticks* const at = &source.begin;
    const Ticks first = *at;
    if (first < begin || first >= until || first == 0) return false;
    std::memcpy(static_cast<void*>(&copy), &source, sizeof copy);
    return *at == first && copy.begin == first && copy.hook != HookId::kNone;
  }

  /// By thread and begin; what may end on any thread has kAnyThread.
  using OpenCalls = std::multimap<std::pair<std::int64_t, Ticks>, Event>;
  static constexpr std::int64_t kAnyThread = -1;

  OpenCalls copy_open_calls(Ticks until) const {
    OpenCalls open;
    Event copy;
    for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
      const spool::Thread& t = view.thread(i);
      if (t.slot.load(std::memory_order_acquire) != spool::ThreadSlot::kLive) continue;
      const std::int64_t tid = t.tid.load(std::memory_order_relaxed);
      for (const Event& source : t.open) {
        if (copy_open(source, until, copy)) open.emplace(std::pair{tid, copy.begin}, copy);
      }
    }
    for (std::uint32_t i = 0; i < view.header().pending_count; ++i) {
      if (copy_open(view.pending(i), until, copy)) open.emplace(std::pair{kAnyThread, copy.begin}, copy);
    }
    return open;
  }

  void add_unfinished(OpenCalls& open) {
    if (!open.empty()) drop_known(open);
    for (auto& [thread_and_begin, call] : open) {
      call.end = end;
      call.flags |= kUnfinished;
      note_kind(call.hook);
      copies.push_back(call);
      const std::int64_t tid = thread_and_begin.first == kAnyThread ? view.header().pid : thread_and_begin.first;
      threads[tid].events.push_back(&copies.back());
    }
  }

  static bool same_call(const Event& open, const Event& ended) {
    constexpr std::uint8_t kKnownAtTheEnd = kContinues | kUnfinished | kFailed;
    return open.hook == ended.hook && ((open.flags ^ ended.flags) & ~kKnownAtTheEnd) == 0 &&
           ((open.flags & kAsyncSlice) == 0 || open.mpi.request == ended.mpi.request);
  }

  // A call that has ended since we copied it, or was committed and not cleared when the process died, is known already.
  void drop_known(OpenCalls& open) const {
    for (const auto& [tid, thread] : threads) {
      for (const Event* e : thread.events) {
        const bool on_any = (e->flags & (kAsyncSlice | kStartEnd)) != 0;
        const auto [first, last] = open.equal_range({on_any ? kAnyThread : tid, e->begin});
        for (auto at = first; at != last;) at = same_call(at->second, *e) ? open.erase(at) : std::next(at);
      }
    }
  }

  void order() {
    for (auto& [tid, thread] : threads) {
      const auto earlier = [](const Event* a, const Event* b) {
        return before({a->begin, a->end}, {b->begin, b->end});
      };
      // Calls that do not nest were committed in this order already.
      if (!std::is_sorted(thread.events.begin(), thread.events.end(), earlier)) {
        std::sort(thread.events.begin(), thread.events.end(), earlier);
      }
      drop_doubled_comms(view, thread.events);
      for (const Event* e : thread.events) {
        if (e->hook == HookId::kTorchMemory) {
          ++summary.memory;
          continue;
        }
        const std::uint64_t calls = e->hook == HookId::kMpiPolls ? polls_of(e->polls) : 1;
        summary.calls += calls;
        // CUPTI tells of its calls later.
        if (e->hook != HookId::kCudaApi) summary.of_layer[static_cast<std::size_t>(hook_layer(e->hook))] += calls;
      }
    }
    summary.calls -= device.counts().api_calls;
    std::erase_if(threads, [](const auto& entry) { return entry.second.events.empty(); });
  }

  void limit_memory() {
    if (summary.memory <= options.memory_entries) return;
    std::vector<Ticks> begins;
    begins.reserve(summary.memory);
    for (const auto& [tid, thread] : threads) {
      for (const Event* e : thread.events)
        if (e->hook == HookId::kTorchMemory) begins.push_back(e->begin);
    }
    const auto first_left_out = begins.begin() + static_cast<std::ptrdiff_t>(options.memory_entries);
    std::nth_element(begins.begin(), first_left_out, begins.end());
    memory_until = *first_left_out;
    memory_left_out = static_cast<std::uint64_t>(
        std::count_if(begins.begin(), begins.end(), [this](Ticks t) { return t >= memory_until; }));
  }

  // The numbers in the markers' names when they count up by one, as the readers of ProfilerStep#N need; else the count.
  void number_steps() {
    if (marks.empty()) return;
    bool counts_up = true;
    for (std::size_t i = 1; i < marks.size(); ++i)
      counts_up &= marks[i].number > 0 && marks[i].number - 1 == marks[i - 1].number;
    if (!counts_up || marks.front().number == kNoStepNumber || marks.front().number < 0) {
      for (spool::StepMark& m : marks) m.number = m.index;
    }
    summary.first_step = marks.front().number;
    summary.last_step = marks.back().number;
  }

  TraceHeader header(const DeviceTracks& tracks) const {
    const spool::SpoolHeader& h = view.header();
    TraceHeader out;
    out.rank.rank = h.rank;
    out.rank.world_size = h.world_size;
    out.rank.local_rank = h.local_rank;
    out.rank.local_world_size = h.local_world_size;
    out.rank.node_rank = h.node_rank;
    out.rank.host = view.string(h.host);
    out.rank.source = view.string(h.rank_source);
    out.base_time_ns = h.base_time_ns;
    out.trace_name = options.trace_name;
    for (const auto& [id, c] : definitions.communicators()) {
      // PyTorch's own groups beside those of NCCL would be the same twice.
      if (c.backend == spool::CommunicatorBackend::kTorch) {
        if (!definitions.has(spool::CommunicatorBackend::kNccl)) out.groups.push_back(torch_group(c));
        continue;
      }
      const bool nccl = c.backend == spool::CommunicatorBackend::kNccl;
      if (nccl) out.backend = "nccl";
      out.groups.push_back(
          {c.identity, std::string(c.name), std::string(c.all_ranks), c.size, nccl ? "cuda:nccl" : "mpi"});
    }
    if (!definitions.has(spool::CommunicatorBackend::kNccl) && definitions.has(spool::CommunicatorBackend::kTorch)) {
      out.backend = collectives.backend().empty() ? "unknown" : std::string(collectives.backend());
    }
    if (out.groups.empty()) out.backend = "unknown";
    out.devices = tracks.device_properties();
    add_profshim_members(out.profshim);
    move_versions(out);
    return out;
  }

  TraceHeader::Group torch_group(const Communicator& c) const {
    const bool is_first = c.name == "0";
    const std::string backend = collectives.backend().empty() ? "unknown" : std::string(collectives.backend());
    return {std::string(c.name), is_first ? "default_pg" : "undefined", std::string(c.all_ranks), c.size, backend};
  }

  using Members = std::vector<std::pair<std::string, std::string>>;
  void add_profshim_members(Members& out) const {
    const spool::SpoolHeader& h = view.header();
    const auto text = [](std::string_view value) { return json_string(value); };
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    out.emplace_back("version", text(kVersion));
    out.emplace_back("run_name", text(view.string(h.run_name)));
    out.emplace_back("command", text(view.string(h.command)));
    out.emplace_back("rank_source", text(view.string(h.rank_source)));
    out.emplace_back("local_rank", std::to_string(h.local_rank));
    out.emplace_back("local_world_size", std::to_string(h.local_world_size));
    out.emplace_back("node_rank", std::to_string(h.node_rank));
    out.emplace_back("window", std::to_string(window_number));
    out.emplace_back("complete", flag(summary.complete));
    out.emplace_back("truncated", flag(summary.truncated));
    if (!limit.empty()) out.emplace_back("limit", text(limit));
    out.emplace_back("recovered", flag(options.recovered));
    out.emplace_back("steps", steps_json());
    out.emplace_back("calls", std::to_string(summary.calls));
    out.emplace_back("dropped_events", std::to_string(summary.dropped));
    if (memory_left_out > 0) out.emplace_back("memory_entries_left_out", std::to_string(memory_left_out));
    out.emplace_back("names_lost", std::to_string(h.strings_lost.load()));
    out.emplace_back("definitions_lost", std::to_string(h.definitions_lost.load()));
    out.emplace_back("threads_lost", std::to_string(h.threads_lost.load()));
    out.emplace_back("pending_lost", std::to_string(h.pending_lost.load()));
    if (!device.empty()) out.emplace_back("device", device_json());
    if (!nccl_tasks.empty()) out.emplace_back("nccl_tasks", nccl_tasks.summary());
    out.emplace_back("problems", problems_json());
    out.emplace_back("clock", clock_json());
    if (options.overhead_percent >= 0) out.emplace_back("overhead_percent", number(options.overhead_percent));
    if (options.stall_us >= 0) out.emplace_back("stall_us", number(options.stall_us));
    if (options.cpu) out.emplace_back("cpu", cpu_json(*options.cpu));
    for (const Definitions::Fact& fact : definitions.facts())
      out.emplace_back(std::string(fact.key), std::string(fact.json));
    out.emplace_back("spec", text(view.string(h.spec, spool::kMaxText)));
  }

  // Kineto has these beside its own members, and readers look for them there.
  static void move_versions(TraceHeader& header) {
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

  // What CUPTI told of this window; lost_in_process: of the whole process so far, since nobody knows of which window.
  std::string device_json() const {
    const DeviceCounts& n = device.counts();
    std::uint64_t lost = 0;
    for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
      const spool::Thread& t = view.thread(i);
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

  std::string steps_json() const {
    const spool::SpoolHeader& h = view.header();
    std::string json = "{\"source\": " + json_string(view.string(h.step_source));
    if (!marks.empty()) {
      json += ", \"first\": " + std::to_string(summary.first_step) +
              ", \"last\": " + std::to_string(summary.last_step) +
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

  std::string problems_json() const {
    std::string json = "[";
    const auto add = [&json](std::string_view source, std::string_view sentence) {
      json += json.size() > 1 ? ", " : "";
      json += "{\"source\": " + json_string(source) + ", \"lost\": " + json_string(sentence) + "}";
    };
    for (const Definitions::Problem& p : definitions.problems()) add(p.source, p.sentence);
    if (const std::string lost = spool::threads_lost_sentence(view.header()); !lost.empty()) add("threads", lost);
    return json + "]";
  }

  std::string clock_json() const {
    const std::vector<Anchor> anchors = view.anchors();
    std::string json = std::string("{\"kind\": \"") + profshim::name_of(view.header().clock) +
                       "\", \"ticks_per_ns\": " + number(clock.ticks_per_ns()) +
                       ", \"wall_clock_shift_ns\": " + std::to_string(clock.realtime_shift_ns());
    if (!anchors.empty()) {
      const auto anchor = [](const Anchor& a) {
        return "[" + std::to_string(a.ticks) + ", " + std::to_string(a.monotonic_ns) + ", " +
               std::to_string(a.realtime_ns) + "]";
      };
      json += ", \"anchors\": [" + anchor(anchors.front()) + ", " + anchor(anchors.back()) + "]";
    }
    return json + "}";
  }

  static std::string cpu_json(const CpuUse& cpu) {
    return "{\"measured_us\": " + number(cpu.measured_us) + ", \"waited_us\": " + number(cpu.waited_us) +
           ", \"process_us\": " + number(cpu.process_us) + ", \"machine_us\": " + number(cpu.machine_us) +
           ", \"stolen_us\": " + number(cpu.stolen_us) + ", \"cpus\": " + std::to_string(cpu.cpus) + "}";
  }

  // ---- events
  // --------------------------------------------------------------------------------------------------------

  void meta(TraceWriter& out, std::string_view name, std::int64_t tid, std::string_view key,
            decltype(Arg::value) value) {
    const Arg arg{key, value};
    TraceEvent e;
    e.phase = 'M';
    e.name = name;
    e.pid = view.header().pid;
    e.tid = tid;
    e.begin_ns = clock.unix_ns(begin);
    e.args = {&arg, 1};
    out.write(e);
  }

  void name_thread(TraceWriter& out, std::int64_t tid, const std::string& native, int lane) {
    const std::int64_t shown = shown_tid(tid, lane);
    std::string name = "thread " + std::to_string(shown_tid(tid));
    if (tid >= kRawThreads) name += " (CUPTI's number, tid not known)";
    if (const std::string_view given = definitions.thread_name(tid); !given.empty()) {
      name += " (" + std::string(given) + ")";
    } else if (!native.empty()) {
      name += " (" + native + ")";
    }
    if (lane > 0) name += " overlapping " + std::to_string(lane);
    meta(out, "thread_name", shown, "name", std::string_view{name});
    // The main thread first, overlap lanes below their thread.
    meta(out, "thread_sort_index", shown, "sort_index", shown_tid(tid) + lane);
  }

  void write_preamble(TraceWriter& out) {
    const spool::SpoolHeader& h = view.header();
    const std::string process = std::string(view.string(h.program));
    const std::string label = "rank " + std::to_string(h.rank) + " on " + std::string(view.string(h.host));
    meta(out, "process_name", h.pid, "name", std::string_view{process});
    meta(out, "process_labels", h.pid, "labels", std::string_view{label});
    meta(out, "process_sort_index", h.pid, "sort_index", std::int64_t{h.rank >= 0 ? h.rank : h.pid});
    const Arg count{"Op count", summary.calls};
    TraceEvent span;
    span.category = Category::kTrace;
    span.name = "PyTorch Profiler (0)";  // what TensorBoard and HTA take the window from
    span.pid_text = "Spans";
    span.tid_text = "PyTorch Profiler";
    span.text_ids = true;
    span.begin_ns = clock.unix_ns(begin);
    span.duration_ns = clock.unix_ns(last_end()) - span.begin_ns;  // calls that began in the window may end behind it
    span.args = {&count, 1};
    out.write(span);
    TraceEvent start;
    start.phase = 'i';
    start.scope = 'g';
    start.name = "Iteration Start: PyTorch Profiler";
    start.pid_text = "Traces";
    start.tid_text = "Trace PyTorch Profiler";
    start.text_ids = true;
    start.begin_ns = span.begin_ns;
    out.write(start);
  }

  void write_end(TraceWriter& out) {
    TraceEvent e;
    e.phase = 'i';
    e.scope = 'g';
    e.name = "Record Window End";
    e.text_ids = true;  // both empty
    e.begin_ns = clock.unix_ns(last_end());
    out.write(e);
  }

  Ticks last_end() const {
    Ticks latest = std::max(end, device.last_end());
    for (const auto& [tid, thread] : threads) {
      for (const Event* e : thread.events) latest = std::max(latest, e->end);
    }
    return latest;
  }

  /// The number of the step in which something began; null when in none.
  const std::int64_t* step_at(Ticks t) const {
    const auto next = std::upper_bound(marks.begin(), marks.end(), t,
                                       [](Ticks ticks, const spool::StepMark& mark) { return ticks < mark.ticks; });
    if (next == marks.begin()) return nullptr;
    const auto i = static_cast<std::size_t>(next - marks.begin()) - 1;
    return t < step_slice(i).end ? &marks[i].number : nullptr;
  }

  Slice step_slice(std::size_t i) const {
    const Ticks next = i + 1 < marks.size() ? marks[i + 1].ticks : 0;
    if (next != 0) return {marks[i].ticks, next};
    return {marks[i].ticks, last_step_end > marks[i].ticks ? std::min(last_step_end, end) : end};
  }

  void write_step(TraceWriter& out, std::size_t i, std::int64_t tid, Lanes& lanes) {
    char name[48];
    std::snprintf(name, sizeof name, "ProfilerStep#%lld", static_cast<long long>(marks[i].number));
    const Slice slice = step_slice(i);
    const Arg index{"index", marks[i].index};
    TraceEvent e;
    e.category = Category::kUserAnnotation;
    e.name = name;
    e.pid = view.header().pid;
    e.begin_ns = clock.unix_ns(slice.begin);
    e.duration_ns = clock.unix_ns(slice.end) - e.begin_ns;
    e.tid = tid + lanes.place(e.begin_ns, e.begin_ns + e.duration_ns) * kLaneStep;
    e.args = {&index, 1};
    out.write(e);
  }

  std::string_view name_of(const Event& e) const {
    if (const std::string_view call = cuda_call_name(e.hook); !call.empty()) return call;
    if (e.hook == HookId::kMpiPolls) return polls_of(e.polls) > 1 ? "MPI polling" : hook_name(e.polls.functions[0]);
    const bool named = e.hook == HookId::kNvtxRange || e.hook == HookId::kNvtxMark;
    if (!named && hook_layer(e.hook) != Layer::kTorch) return hook_name(e.hook);
    const std::string_view name = view.string(e.name);
    return name.empty() ? std::string_view("(name lost)") : name;
  }

  static Category category_of(HookId hook) {
    if (const std::string_view call = cuda_call_name(hook); !call.empty())
      return call.starts_with("cuda") ? Category::kCudaRuntime : Category::kCudaDriver;
    const Layer layer = hook_layer(hook);
    const bool is_range = hook == HookId::kTorchRange || is_rpc(hook);
    if (layer == Layer::kTorch) return is_range ? Category::kUserAnnotation : Category::kCpuOp;
    return layer == Layer::kMpi || layer == Layer::kNccl ? Category::kCpuOp : Category::kUserAnnotation;
  }

  void write_event(TraceWriter& out, const Event& event, std::int64_t tid, Lanes& lanes, EventArgs& args,
                   DeviceTracks& tracks, int& lanes_used) {
    if (event.hook == HookId::kTorchMemory) return write_memory(out, event, tid);
    TraceEvent e;
    e.pid = view.header().pid;
    e.begin_ns = clock.unix_ns(event.begin);
    const std::int64_t end_ns = std::max(e.begin_ns, clock.unix_ns(event.end));
    const bool is_api = event.hook == HookId::kCudaApi;
    if (is_api) {
      tracks.describe_call(event, e);
    } else {
      e.name = name_of(event);
      e.category = category_of(event.hook);
      e.args = args.of(event, run_order.continuation_of(event));
    }
    if (!is_api && (event.flags & (kAsyncSlice | kStartEnd)) != 0) {
      write_async(out, e, event, tid, end_ns);
      return;
    }
    if (event.hook == HookId::kNvtxMark) {
      e.phase = 'i';
      e.category = Category::kCpuInstantEvent;
      e.tid = tid;
    } else {
      e.duration_ns = end_ns - e.begin_ns;
      const int lane = lanes.place(e.begin_ns, end_ns);
      for (; lanes_used < lane; ++lanes_used) name_thread(out, tid, threads[tid].name, lanes_used + 1);
      e.tid = shown_tid(tid, lane);
    }
    if (is_nccl_operation(event.hook)) return write_operation(out, e, event);
    if (is_torch_op(event)) return write_torch_op(out, e, event);
    if (!is_api && write_annotated(out, e, event)) return;
    out.write(e);
    if (is_api) tracks.write_flow_start(out, event, e);
  }

  std::uint64_t next_torch_id_ = 0;  // they are written in the order in which TorchLinks has counted them

  void write_torch_op(TraceWriter& out, TraceEvent& e, const Event& event) {
    write_with_id(out, e, next_torch_id_++);
    if (const auto* const collective = collectives.find(event); collective != nullptr && !collective->has_own_comms) {
      e.name = kParamComms;
      e.args = comms.of(event, collective->work);
      out.write(e);
    }
    e.args = {};
    e.category = Category::kFwdBwd;
    e.name = "fwdbwd";
    for (const char phase : {'s', 'f'}) {
      e.phase = phase;
      for (const auto& flow : phase == 's' ? torch_links.starting_at(event) : torch_links.ending_at(event)) {
        e.id = flow.number;
        out.write(e);
      }
    }
  }

  void write_memory(TraceWriter& out, const Event& event, std::int64_t tid) const {
    if (event.begin >= memory_until) return;
    MemoryRoom room;
    TraceEvent e;
    e.phase = 'i';
    e.category = Category::kCpuInstantEvent;
    e.name = memory_name(event);
    e.pid = view.header().pid;
    e.tid = shown_tid(tid);
    e.begin_ns = clock.unix_ns(event.begin);
    e.args = memory_args(event, room);
    out.write(e);
  }

  /// As PyTorch shows a collective: what it is, and inside it, under a name of its own, the call that was made.
  void write_operation(TraceWriter& out, TraceEvent& e, const Event& event) {
    std::vector<Arg> call_args(e.args.begin(), e.args.end());
    nccl_tasks.add_args(event, call_args);
    e.name = kParamComms;
    std::vector<Arg> with_id;
    if (const std::uint64_t id = operations.external_id(event); id != 0) with_id.push_back({"External id", id});
    const auto known = nccl_args.of_operation(event);
    with_id.insert(with_id.end(), known.begin(), known.end());
    e.args = with_id;
    out.write(e);
    e.category = Category::kUserAnnotation;
    e.name = nccl_args.annotation_name(event);
    e.args = call_args;
    if (!write_annotated(out, e, event)) out.write(e);
  }

  /// A range with work on a device, joined to its gpu_user_annotation; false for every other.
  bool write_annotated(TraceWriter& out, TraceEvent& e, const Event& event) {
    const std::uint64_t id = annotations.external_id(event);
    if (id == 0) return false;
    write_with_id(out, e, id);
    return true;
  }

  static void write_with_id(TraceWriter& out, TraceEvent& e, std::uint64_t id) {
    std::vector<Arg> with_id{{"External id", id}};
    with_id.insert(with_id.end(), e.args.begin(), e.args.end());
    e.args = with_id;
    out.write(e);
  }

  static std::int64_t start_tid(const Event& range) {
    if (is_rpc(range.hook)) return static_cast<std::int64_t>(range.rpc.began_on);
    return hook_layer(range.hook) == Layer::kTorch ? static_cast<std::int64_t>(range.torch.record_function)
                                                   : std::int64_t{range.nvtx.start_tid};
  }

  void write_async(TraceWriter& out, TraceEvent& e, const Event& event, std::int64_t tid, std::int64_t end_ns) {
    const bool range = (event.flags & kStartEnd) != 0;
    e.phase = 'b';
    const std::int64_t began_on = !range ? 0 : start_tid(event);
    e.tid = began_on != 0 ? began_on : tid;
    e.id = range ? ++range_ids_ : event.mpi.request;
    // Requests and ranges number independently: keep their ids apart.
    if (range) e.id |= std::uint64_t{1} << 32;
    out.write(e);
    e.phase = 'e';
    e.tid = tid;
    e.begin_ns = end_ns;
    e.args = {};
    out.write(e);
  }
  std::uint64_t range_ids_ = 0;

  bool write_stacks(ByteSink& sink) {
    name_stacks();
    FoldedStacks folded(clock.ticks_per_ns());
    for (const auto& [tid, thread] : threads) folded.add_thread(thread.events);
    return folded.write(stacks, sink);
  }

  bool write(ByteSink& sink, const std::function<void()>& on_progress) {
    DeviceTracks tracks({view, definitions, clock, run_order, device, operations, annotations, torch_links,
                         [this](Ticks t) { return step_at(t); }});
    TraceWriter out(sink, header(tracks));
    write_preamble(out);
    const std::int64_t step_thread = view.header().step_tid != 0 ? view.header().step_tid : view.header().pid;
    if (!marks.empty()) threads[step_thread];  // it has a line even without events
    next_torch_id_ = first_torch_id();
    name_stacks();
    EventArgs args(definitions, view, clock.ticks_per_ns(), stacks);
    std::uint64_t written = 0;
    const auto count_written = [&] {
      if (++written % kProgressEvery == 0 && on_progress) on_progress();
    };
    for (auto& [tid, thread] : threads) {
      name_thread(out, tid, thread.name, 0);
      Lanes lanes;
      int lanes_used = 0;
      std::size_t step = tid == step_thread ? 0 : marks.size();
      for (const Event* event : thread.events) {
        while (step < marks.size() && !before({event->begin, event->end}, step_slice(step))) {
          write_step(out, step++, tid, lanes);
        }
        write_event(out, *event, tid, lanes, args, tracks, lanes_used);
        count_written();
      }
      while (step < marks.size()) write_step(out, step++, tid, lanes);
    }
    if (!device.empty()) tracks.write(out, clock.unix_ns(begin), count_written);
    write_end(out);
    const bool whole = out.finish();
    summary.events = out.events();
    return whole;
  }
};

WindowTraceBuilder::WindowTraceBuilder(const spool::View& view, std::uint64_t window_number,
                                       const WindowTraceOptions& options)
    : impl_(std::make_unique<Impl>(view, window_number, options)) {}
WindowTraceBuilder::~WindowTraceBuilder() = default;
const WindowSummary& WindowTraceBuilder::summary() const { return impl_->summary; }
void WindowTraceBuilder::set_options(const WindowTraceOptions& options) { impl_->options = options; }

bool WindowTraceBuilder::empty() const {
  if (!impl_->only_life_cycle) return false;
  // A step that had an end is worth a file even when nothing happened in it.
  return impl_->marks.empty() ||
         (impl_->ended_by == spool::WindowEnd::kExit && impl_->last_step_end == 0 && impl_->marks.size() <= 1);
}

bool WindowTraceBuilder::has_stacks() const {
  return std::any_of(impl_->threads.begin(), impl_->threads.end(), [](const auto& thread) {
    const auto& events = thread.second.events;
    return std::any_of(events.begin(), events.end(), [](const Event* e) { return stack_of(*e) != 0; });
  });
}

bool WindowTraceBuilder::write_stacks(ByteSink& sink) { return impl_->write_stacks(sink); }

bool WindowTraceBuilder::write(ByteSink& sink, const std::function<void()>& on_progress) {
  return impl_->write(sink, on_progress);
}

}  // namespace profshim::kineto
