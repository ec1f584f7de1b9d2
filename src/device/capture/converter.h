// From CUPTI's records to the events of the device lane. Device thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/cupti/activity_scope.h"
#include "device/cupti/api_names.h"
#include "device/cupti/buffer_pool.h"
#include "device/cupti/record_clock.h"
#include "device/cupti/thread_ids.h"
#include "launch_tracker.h"
#include "profshim/event.h"
#include "profshim/spool/format.h"

namespace profshim::device {

/// Where the events go: the recorder, or a test.
class EventOutput {
 public:
  virtual ~EventOutput() = default;
  /// One event, or two that belong together.
  virtual void put(const Event& event, const Event* continuation) = 0;
  virtual StringId text(const char* text) = 0;
  virtual void define(spool::DefinitionKind kind, std::uint32_t id, const std::string& name, const std::string& text,
                      std::initializer_list<std::int64_t> values) = 0;
};

/// Records that are not in the lane, by reason.
struct Losses {
  std::uint64_t no_time = 0;                // begin or end 0: CUPTI ran out of device memory, or the work never ended
  std::uint64_t backwards = 0;              // end before begin
  std::uint64_t outside = 0;                // long before the recording began, or in the future
  std::uint64_t unknown_kinds = 0;          // records that we did not ask for
  std::uint64_t truncated = 0;              // buffers that end inside a record, or that CUPTI itself could not read on
  std::uint64_t by_cupti = 0;               // records that CUPTI dropped
  std::uint64_t launches = 0;               // whose device work never came
  std::uint64_t graphs = 0;                 // of these: launches of graphs without a single node
  std::uint64_t uncertain_graph_nodes = 0;  // not lost, but perhaps tied to another launch of their graph
  std::uint64_t kept_buffers = 0;           // of the recording, which CUPTI still had when we let go of it
  std::uint64_t flushes = 0;                // that CUPTI refused: what it had by then may be missing
  std::uint64_t impossible_times() const { return no_time + backwards + outside; }
  bool operator==(const Losses&) const = default;
};

class Converter {
 public:
  /// `table_bytes`: what may be remembered between the records, about.
  Converter(const ActivityScope& scope, EventOutput& output, std::size_t table_bytes);

  /// Times outside [earliest, latest] are impossible from here on. `now_ns`: by CLOCK_MONOTONIC.
  void begin_round(Ticks earliest, Ticks latest, std::int64_t now_ns);
  void convert(const std::vector<BufferPool::Filled>& buffers);
  /// `flushed`: CUPTI has handed over every record that was whole before. `last`: nothing will follow, what was held
  /// back comes out.
  void end_round(bool flushed, bool last);

  /// When the oldest call began that is held back; LaunchTracker::kNothing when there is none.
  Ticks oldest_held() const;

  /// CUPTI may tie nodes of graphs to wrong launches from here on.
  void graph_joins_are_uncertain() { graph_joins_uncertain_ = true; }

  LaunchTracker& launches() { return launches_; }
  RecordClock& clock() { return clock_; }
  ApiNames& names() { return names_; }
  ThreadIds& threads() { return threads_; }
  Losses& losses() { return losses_; }
  /// Calls on lines of their own, since their thread has ended and its id is not known.
  std::uint64_t calls_of_unknown_threads() const { return calls_of_unknown_threads_; }

 private:
  struct HeldCall {
    Event event;
    ApiRole role;
    std::uint64_t flushes;  // before it came
  };

  struct EventRecord {
    std::uint32_t correlation, stream;
  };

  static std::uint64_t key(std::uint32_t context, std::uint32_t number) {
    return std::uint64_t{context} << 32 | number;
  }
  template <class Visit>
  void each_record(const BufferPool::Filled& buffer, const Visit& visit);
  bool times(std::uint64_t start, std::uint64_t end, Event& event);
  template <class Record>
  bool times_of_work(const Record& r, Event& event);
  void record(const cupti::Record& record);
  void on_api(const cupti::ApiRecord& record);
  void on_kernel(const cupti::KernelRecord& record);
  void on_copy(const cupti::MemcpyRecord& record);
  void on_peer_copy(const cupti::PeerCopyRecord& record);
  void on_memset(const cupti::MemsetRecord& record);
  void on_graph(const cupti::GraphRecord& record);
  void convert_synchronizations();
  void forget_old_event_records();
  void on_synchronization(const cupti::SynchronizationRecord& record);
  void on_overhead(const cupti::OverheadRecord& record);
  void on_memory(const cupti::MemoryRecord& record);
  void on_device(const cupti::DeviceRecord& record);
  void on_stream(const cupti::StreamRecord& record);
  template <class Record>
  Event work_of(HookId hook, const Record& r);
  void work_done(Event& event, std::uint32_t graph);
  bool settle_nested(const Event& outer, ApiRole role, std::vector<HeldCall>& held);
  void note_context(std::uint32_t context, std::uint32_t device) { devices_of_contexts_[context] = device; }
  std::uint32_t device_of(std::uint32_t context) const;
  const EventRecord* record_before(const cupti::SynchronizationRecord& wait) const;

  const ActivityScope& scope_;
  EventOutput& output_;
  const std::size_t most_remembered_;  // events, streams, contexts: each
  LaunchTracker launches_;
  RecordClock clock_;
  ApiNames names_;
  ThreadIds threads_;
  Losses losses_;
  Ticks earliest_ = 0, latest_ = ~Ticks{0};
  std::uint64_t flushes_ = 0;
  std::uint64_t calls_of_unknown_threads_ = 0;
  bool graph_joins_uncertain_ = false;
  bool under_mps_ = false;
  std::unordered_map<std::uint32_t, std::vector<HeldCall>> held_;  // driver calls, by thread
  std::unordered_map<std::uint32_t, std::uint32_t> devices_of_contexts_;
  std::unordered_map<std::uint64_t, std::vector<EventRecord>> event_records_;  // context << 32 | event; by correlation
  std::vector<cupti::SynchronizationRecord> synchronizations_;                 // that came since the last flush
  struct Stream {
    std::int32_t priority;
  };
  std::unordered_map<std::uint64_t, Stream> streams_;  // context << 32 | stream
  std::unordered_set<std::uint32_t> devices_;
};

/// The members of one object of deviceProperties, as Kineto writes them.
std::string device_properties(const cupti::DeviceRecord& record);

}  // namespace profshim::device
