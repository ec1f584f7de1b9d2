#pragma once

#include <cstdint>
#include <functional>

#include "device_tracks.h"
#include "kineto/args/event_args.h"
#include "kineto/args/nccl_operation_args.h"
#include "kineto/args/torch_comms_args.h"
#include "kineto/overflow_tracks.h"
#include "kineto/stacks/call_stacks.h"
#include "kineto/window/window_events.h"

namespace profshim::kineto {

class ThreadTracks {
 public:
  ThreadTracks(const WindowEvents& window, CallStacks& stacks, DeviceTracks& device_tracks);
  void write(TraceWriter& out, const std::function<void()>& written);

 private:
  struct Track {
    std::int64_t key;  // in WindowEvents::threads
    const ThreadEvents& thread;
    OverflowTracks overflow = {};
  };
  void write_thread(TraceWriter& out, std::int64_t key, const ThreadEvents& thread,
                    const std::function<void()>& written);
  void name_track(TraceWriter& out, const Track& track, int overflow);
  std::int64_t place(TraceWriter& out, Track& track, std::int64_t begin_ns, std::int64_t end_ns);
  void write_step(TraceWriter& out, std::size_t step, Track& track);
  void write_event(TraceWriter& out, const Event& event, Track& track);
  void write_slice(TraceWriter& out, TraceEvent& e, const Event& event);
  void write_async(TraceWriter& out, TraceEvent& e, const Event& event, std::int64_t key, std::int64_t end_ns);
  void write_memory(TraceWriter& out, const Event& event, std::int64_t key) const;
  void write_torch_op(TraceWriter& out, TraceEvent& e, const Event& event);
  void write_operation(TraceWriter& out, TraceEvent& e, const Event& event);
  bool write_annotated(TraceWriter& out, TraceEvent& e, const Event& event);
  std::string_view name_of(const Event& event) const;

  const WindowEvents& window_;
  DeviceTracks& device_tracks_;
  EventArgs event_args_;
  NcclOperationArgs nccl_args_;
  TorchCommsArgs torch_comms_args_;
  std::uint64_t next_torch_id_;  // operators are written in the order in which TorchLinks numbered them
  std::uint64_t range_ids_ = 0;
};

}  // namespace profshim::kineto
