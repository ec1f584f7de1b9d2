#include "thread_tracks.h"

#include <algorithm>
#include <cstdio>

#include "kineto/args/event_args.h"
#include "kineto/args/torch_args.h"
#include "kineto/slice_order.h"
#include "kineto/track_names.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

std::int64_t shown_tid(std::int64_t key, int overflow = 0) {
  const std::int64_t tid = key + overflow * kOverflowTidStep;
  if (key < kRawThreads) return tid;
  const std::int64_t raw = tid & (kRawThreads - 1);
  return raw != 0 ? raw : kRawThreads - 1;
}

Category category_of(HookId hook) {
  if (const std::string_view call = cuda_call_name(hook); !call.empty())
    return call.starts_with("cuda") ? Category::kCudaRuntime : Category::kCudaDriver;
  const Layer layer = hook_layer(hook);
  const bool is_range = hook == HookId::kTorchRange || is_rpc(hook);
  if (layer == Layer::kTorch) return is_range ? Category::kUserAnnotation : Category::kCpuOp;
  return layer == Layer::kMpi || layer == Layer::kNccl ? Category::kCpuOp : Category::kUserAnnotation;
}

void write_with_id(TraceWriter& out, TraceEvent& e, std::uint64_t id) {
  std::vector<Arg> with_id{{schema::arg::kExternalId, id}};
  with_id.insert(with_id.end(), e.args.begin(), e.args.end());
  e.args = with_id;
  out.write(e);
}

}  // namespace

ThreadTracks::ThreadTracks(const WindowEvents& window, CallStacks& stacks, DeviceTracks& device_tracks)
    : window_(window),
      device_tracks_(device_tracks),
      event_args_(window.definitions, window.view, window.clock.ticks_per_ns(), stacks, window.detail),
      nccl_args_(window.definitions, window.view.header().rank),
      torch_comms_args_(window.definitions, window.view),
      next_torch_id_(window.first_torch_id()) {}

void ThreadTracks::write(TraceWriter& out, const std::function<void()>& written) {
  for (const auto& [key, thread] : window_.threads) write_thread(out, key, thread, written);
}

void ThreadTracks::write_thread(TraceWriter& out, std::int64_t key, const ThreadEvents& thread,
                                const std::function<void()>& written) {
  Track track{key, thread};
  track.overflow.name_up_to(0, [&](int overflow) { name_track(out, track, overflow); });
  const WindowSteps& steps = window_.steps;
  const spool::SpoolHeader& h = window_.view.header();
  const bool has_steps = key == (h.step_tid != 0 ? h.step_tid : h.pid);
  std::size_t step = has_steps ? 0 : steps.size();
  for (const Event* event : thread.events) {
    while (step < steps.size() && !is_before({event->begin, event->end}, steps.slice(step))) {
      write_step(out, step++, track);
    }
    write_event(out, *event, track);
    written();
  }
  while (step < steps.size()) write_step(out, step++, track);
}

void ThreadTracks::name_track(TraceWriter& out, const Track& track, int overflow) {
  const std::int64_t tid = shown_tid(track.key);
  std::string name = schema::numbered(schema::track::kThreadStart, tid);
  if (track.key >= kRawThreads) name += schema::track::kRawThreadEnd;
  if (const std::string_view given = window_.definitions.thread_name(track.key); !given.empty()) {
    name += " (" + std::string(given) + ")";
  } else if (!track.thread.name.empty()) {
    name += " (" + track.thread.name + ")";
  }
  const TrackId id{window_.view.header().pid, shown_tid(track.key, overflow)};
  const std::int64_t at_ns = window_.clock.unix_ns(window_.begin);
  kineto::name_track(out, id, at_ns, std::move(name), overflow, tid + overflow);
}

std::int64_t ThreadTracks::place(TraceWriter& out, Track& track, std::int64_t begin_ns, std::int64_t end_ns) {
  const int overflow = track.overflow.place(begin_ns, end_ns);
  track.overflow.name_up_to(overflow, [&](int number) { name_track(out, track, number); });
  return shown_tid(track.key, overflow);
}

void ThreadTracks::write_step(TraceWriter& out, std::size_t step, Track& track) {
  const spool::StepMark& mark = window_.steps.marks()[step];
  const std::string name = std::string(schema::name::kStepStart) + std::to_string(mark.number);
  const Slice slice = window_.steps.slice(step);
  StepArgList args;
  add_step_args(window_.steps, step, args);
  TraceEvent e;
  e.category = Category::kUserAnnotation;
  e.name = name;
  e.pid = window_.view.header().pid;
  e.begin_ns = window_.clock.unix_ns(slice.begin);
  e.duration_ns = window_.clock.unix_ns(slice.end) - e.begin_ns;
  e.tid = place(out, track, e.begin_ns, e.begin_ns + e.duration_ns);
  e.args = args.all();
  out.write(e);
}

std::string_view ThreadTracks::name_of(const Event& e) const {
  if (const std::string_view call = cuda_call_name(e.hook); !call.empty()) return call;
  if (e.hook == HookId::kMpiPolls)
    return polls_of(e.polls) > 1 ? schema::name::kMpiPolling : hook_name(e.polls.functions[0]);
  const bool named = e.hook == HookId::kNvtxRange || e.hook == HookId::kNvtxMark;
  if (!named && hook_layer(e.hook) != Layer::kTorch) return hook_name(e.hook);
  const std::string_view name = window_.view.string(e.name);
  return name.empty() ? std::string_view("(name lost)") : name;
}

void ThreadTracks::write_event(TraceWriter& out, const Event& event, Track& track) {
  if (event.hook == HookId::kTorchMemory) return write_memory(out, event, track.key);
  TraceEvent e;
  e.pid = window_.view.header().pid;
  e.begin_ns = window_.clock.unix_ns(event.begin);
  const std::int64_t end_ns = std::max(e.begin_ns, window_.clock.unix_ns(event.end));
  e.more_args = window_.phases.args_at(track.key, event.begin);
  const bool is_api = event.hook == HookId::kCudaApi;
  std::string python_name;
  if (event.hook == HookId::kPythonCall) {
    python_name = event_args_.python_name(event);
    e.name = python_name;
    e.category = Category::kPythonFunction;
    e.args = event_args_.args_of(event, nullptr);
  } else if (is_api) {
    device_tracks_.describe_call(event, e);
  } else {
    e.name = name_of(event);
    e.category = category_of(event.hook);
    e.args = event_args_.args_of(event, window_.continuations.continuation_of(event));
  }
  if (!is_api && (event.flags & (kAsyncSlice | kStartEnd)) != 0) {
    return write_async(out, e, event, track.key, end_ns);
  }
  if (event.hook == HookId::kNvtxMark) {
    e.phase = schema::phase::kInstant;
    e.category = Category::kCpuInstantEvent;
    e.tid = shown_tid(track.key);
  } else {
    e.duration_ns = end_ns - e.begin_ns;
    e.tid = place(out, track, e.begin_ns, end_ns);
  }
  write_slice(out, e, event);
}

void ThreadTracks::write_slice(TraceWriter& out, TraceEvent& e, const Event& event) {
  if (is_nccl_operation(event.hook)) return write_operation(out, e, event);
  if (is_torch_op(event)) return write_torch_op(out, e, event);
  const bool is_api = event.hook == HookId::kCudaApi;
  if (!is_api && write_annotated(out, e, event)) return;
  out.write(e);
  if (!is_api) return;
  device_tracks_.begin_arrow(out, event, e);
  device_tracks_.write_memory_of(out, event);
}

void ThreadTracks::write_torch_op(TraceWriter& out, TraceEvent& e, const Event& event) {
  write_with_id(out, e, next_torch_id_++);
  const auto* const collective = window_.collectives.find(event);
  if (collective != nullptr && !collective->has_own_comms) {
    e.name = kParamComms;
    e.args = torch_comms_args_.args_of(event, collective->work);
    out.write(e);
  }
  e.args = e.more_args = {};
  e.category = Category::kFwdBwd;
  e.name = schema::category::kFwdBwd;
  for (const char phase : {schema::phase::kFlowStart, schema::phase::kFlowEnd}) {
    e.phase = phase;
    const TorchLinks& links = window_.torch_links;
    for (const auto& flow : phase == schema::phase::kFlowStart ? links.starting_at(event) : links.ending_at(event)) {
      e.id = flow.number;
      out.write(e);
    }
  }
}

void ThreadTracks::write_memory(TraceWriter& out, const Event& event, std::int64_t key) const {
  if (event.begin >= window_.memory_until) return;
  MemoryArgList args;
  TraceEvent e;
  e.phase = schema::phase::kInstant;
  e.category = Category::kCpuInstantEvent;
  e.name = memory_name(event);
  e.pid = window_.view.header().pid;
  e.tid = shown_tid(key);
  e.begin_ns = window_.clock.unix_ns(event.begin);
  add_memory_args(event, args);
  e.args = args.all();
  e.more_args = window_.phases.args_at(key, event.begin);
  out.write(e);
}

// As in PyTorch, an NCCL operation is written as record_param_comms, with the call inside.
void ThreadTracks::write_operation(TraceWriter& out, TraceEvent& e, const Event& event) {
  std::vector<Arg> call_args(e.args.begin(), e.args.end());
  window_.nccl_tasks.add_args(event, call_args);
  e.name = kParamComms;
  std::vector<Arg> with_id;
  if (const std::uint64_t id = window_.operations.external_id(event); id != 0)
    with_id.push_back({schema::arg::kExternalId, id});
  const auto known = nccl_args_.of_operation(event);
  with_id.insert(with_id.end(), known.begin(), known.end());
  e.args = with_id;
  out.write(e);
  e.category = Category::kUserAnnotation;
  e.name = nccl_args_.annotation_name(event);
  e.args = call_args;
  if (!write_annotated(out, e, event)) out.write(e);
}

bool ThreadTracks::write_annotated(TraceWriter& out, TraceEvent& e, const Event& event) {
  const std::uint64_t id = window_.annotations.external_id(event);
  if (id == 0) return false;
  write_with_id(out, e, id);
  return true;
}

void ThreadTracks::write_async(TraceWriter& out, TraceEvent& e, const Event& event, std::int64_t key,
                               std::int64_t end_ns) {
  const bool range = (event.flags & kStartEnd) != 0;
  e.phase = schema::phase::kAsyncBegin;
  const std::int64_t began_on = !range ? 0 : start_tid(event);
  e.tid = began_on != 0 ? began_on : shown_tid(key);
  e.id = range ? ++range_ids_ : event.mpi.request;
  // Requests and ranges are numbered separately. Bit 32 keeps their ids apart.
  if (range) e.id |= std::uint64_t{1} << 32;
  out.write(e);
  e.phase = schema::phase::kAsyncEnd;
  e.tid = shown_tid(key);
  e.begin_ns = end_ns;
  e.args = e.more_args = {};
  out.write(e);
}

}  // namespace profshim::kineto
