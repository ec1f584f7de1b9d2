#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "fakes/libcuda/simulator.h"

namespace fake {

namespace {

thread_local Gate next_gate;

}  // namespace

int Simulator::submit(void* handle, Work work) {
  std::uint64_t room = 0;
  {
    const std::lock_guard lock(lock_);
    Stream* stream = find(handle);
    if (!stream) return kInvalidHandle;
    if (work.duration == 0) work.duration = duration_of(work);
    if (work.kind == WorkKind::kKernel && next_gate) work.gate = std::exchange(next_gate, nullptr);
    if (stream->capture) {
      stream->capture->nodes.push_back(std::move(work));
      return kOk;
    }
    room = stream->ends[stream->next_end];
    place(*stream, std::move(work));
  }
  wait_until(room);
  return kOk;
}

void Simulator::gate_next_kernel(Gate gate) { next_gate = std::move(gate); }

std::uint64_t Simulator::duration_of(const Work& work) {
  if (work.kind != WorkKind::kKernel) return 1000 + work.bytes * 1000 / copy_mbps_;
  std::uint64_t otherwise = kernel_ns_;
  if (otherwise == 0) {
    const auto threads = static_cast<std::uint64_t>(work.grid.x) * work.grid.y * work.grid.z * work.block.x *
                         work.block.y * work.block.z;
    otherwise = 2000 + threads / 256 * 10;
  }
  return kernels_.empty() ? otherwise : lookup(kernels_, work.name, otherwise);
}

void Simulator::place(Stream& stream, Work work) {
  work.correlation = correlation();
  work.called = innermost_call ? innermost_call->began : realtime_ns();
  work.device = stream.device;
  work.context = stream.context;
  work.stream = stream.id;
  work.priority = stream.priority;
  work.grid_id = ++grids_;
  if (Observer* observer = observer_) {
    if (work.kind == WorkKind::kKernel && seen_.insert(work.name).second)
      observer->first_launch(work.name, work.correlation);
    observer->submitted(work);
  }
  const bool gated = static_cast<bool>(work.gate);
  if (stream.steps.empty() && !gated) {
    run(stream, work, std::max(realtime_ns(), stream.busy_until), 0);
    return;
  }
  stream.steps.push_back({Step::kWork, std::move(work), nullptr, 0});
  advance_all();
  wake_progress();
}

void Simulator::run(Stream& stream, Work& work, std::uint64_t start, std::uint64_t end) {
  work.start = start;
  work.end = std::max(start + work.duration, end);
  stream.busy_until = work.end;
  stream.ends[stream.next_end] = work.end;
  stream.next_end = (stream.next_end + 1) % stream.ends.size();
  tell(work);
  if (work.first_of_graph) stream.graph_start = work.start;
  if (work.last_of_graph) {
    Work graph = work;
    graph.kind = WorkKind::kGraph;
    graph.name = "";
    graph.start = stream.graph_start;
    tell(graph);
  }
}

void Simulator::tell(const Work& work) {
  if (timeline_) {
    static constexpr const char* kNames[] = {"kernel", "memcpy", "memcpy_peer", "memset", "graph"};
    std::fprintf(timeline_, "%s %llu %llu %u %u %u %llu %u %llu %s\n", kNames[static_cast<int>(work.kind)],
                 static_cast<unsigned long long>(work.start), static_cast<unsigned long long>(work.end), work.device,
                 work.stream, work.correlation, static_cast<unsigned long long>(work.bytes), work.graph,
                 static_cast<unsigned long long>(work.called), work.name);
    std::fflush(timeline_);
  }
  if (Observer* observer = observer_) observer->finished(work);
}

void Simulator::advance_all() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Stream* stream : streams_)
      while (!stream->steps.empty() && advance(*stream)) moved = true;
  }
}

bool Simulator::advance(Stream& stream) {
  Step& step = stream.steps.front();
  switch (step.what) {
    case Step::kRecord:
      if (step.generation == step.event->generation) {
        step.event->pending = false;
        step.event->time = std::max(step.placed, stream.busy_until);
      }
      break;
    case Step::kWait:
      if (step.generation == step.event->generation && step.event->pending) return false;
      stream.busy_until = std::max(stream.busy_until, step.event->time);
      break;
    case Step::kWork: {
      std::uint64_t end = 0;
      const std::uint64_t start = std::max(step.placed, stream.busy_until);
      if (step.work.gate && !step.work.gate(start, end)) return false;
      run(stream, step.work, start, end);
      break;
    }
  }
  stream.steps.pop_front();
  return true;
}

void Simulator::wake_progress() {
  bool waits = false;
  for (const Stream* stream : streams_) waits = waits || !stream->steps.empty();
  if (!waits) return;
  if (!progress_running_) {
    progress_running_ = true;
    std::thread([this] { progress(); }).detach();
  }
  progress_wake_.notify_one();
}

void Simulator::progress() {
  std::unique_lock lock(lock_);
  for (;;) {
    bool waits = false;
    for (const Stream* stream : streams_) waits = waits || !stream->steps.empty();
    if (!waits) {
      progress_wake_.wait(lock);
      continue;
    }
    advance_all();
    lock.unlock();
    pause_ns(50000);
    lock.lock();
  }
}

}  // namespace fake
