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
#include "profshim/device/context_devices.h"
#include "profshim/device/possible_times.h"
#include "profshim/event.h"
#include "profshim/spool/format.h"

namespace profshim::device {

class EventOutput {
 public:
  virtual ~EventOutput() = default;
  /// `continuation` may be null.
  virtual void put(const Event& event, const Event* continuation) = 0;
  virtual StringId text(const char* text) = 0;
  virtual void define(spool::DefinitionKind kind, std::uint32_t id, std::string_view name, std::string_view text,
                      std::initializer_list<std::int64_t> values) = 0;
};

struct Losses {
  ImpossibleTimes times;
  std::uint64_t unknown_kinds = 0;          // records of kinds not in cupti::Kind
  std::uint64_t truncated = 0;              // buffers cut inside a record
  std::uint64_t by_cupti = 0;               // records that CUPTI dropped
  std::uint64_t launches = 0;               // that miss activity
  std::uint64_t graphs = 0;                 // part of `launches`: graphs without any activity
  std::uint64_t copies = 0;                 // and memsets without activity: they may have had no bytes
  std::uint64_t uncertain_graph_nodes = 0;  // may have the wrong launch
  std::uint64_t repeated_ids = 0;           // launches with the correlation id of the thread's launch before
  std::uint64_t kept_buffers = 0;           // not returned by CUPTI in time
  std::uint64_t flushes = 0;                // refused by CUPTI
  bool operator==(const Losses&) const = default;
};

/// Turns CUPTI's records into events.
class Converter {
 public:
  Converter(const ActivityScope& scope, EventOutput& output, std::size_t table_bytes);

  /// Drops records with times outside [earliest, latest]. `now_ns`: CLOCK_MONOTONIC.
  void begin_round(Ticks earliest, Ticks latest, std::int64_t now_ns);
  void convert(const std::vector<BufferPool::Filled>& buffers);
  /// Keeps devices, contexts and streams of these buffers, and drops all other records.
  void learn_streams(const std::vector<BufferPool::Filled>& buffers);
  /// Drops records that end before `begin`: they are of the time between two recordings.
  void skip_before(Ticks begin) { skip_before_ = begin; }
  /// `flushed`: CUPTI has returned all complete records. `last`: no record follows.
  void end_round(bool flushed, bool last);

  /// Returns the begin of the oldest HeldCall, or LaunchTracker::kNothing.
  Ticks oldest_held() const;

  void graph_joins_are_uncertain() { graph_joins_uncertain_ = true; }

  LaunchTracker& launches() { return launches_; }
  RecordClock& clock() { return clock_; }
  ApiNames& names() { return names_; }
  ThreadIds& threads() { return threads_; }
  Losses& losses() { return losses_; }
  std::uint64_t calls_of_unknown_threads() const { return calls_of_unknown_threads_; }

 private:
  /// A driver call, held because a runtime call may contain it.
  struct HeldCall {
    Event event;
    ApiRole role;
    std::uint64_t flushes;  // flushes_ when held
  };

  /// A cudaEventRecord.
  struct EventRecord {
    std::uint32_t correlation, stream;
  };

  /// Stream and event numbers are unique within a context only.
  static std::uint64_t key(std::uint32_t context, std::uint32_t number) {
    return std::uint64_t{context} << 32 | number;
  }
  template <class Visit>
  void each_record(const BufferPool::Filled& buffer, const Visit& visit);
  bool convert_times(std::uint64_t start, std::uint64_t end, Event& event);
  template <class Record>
  bool convert_activity_times(const Record& r, Event& event);
  void convert_record(const cupti::Record& record);
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
  void on_context(const cupti::ContextRecord& record);
  template <class Record>
  Event activity_event(HookId hook, const Record& r);
  void note_activity(Event& event, std::uint32_t graph);
  void note_launch_id(std::uint32_t thread, std::uint32_t correlation);
  bool settle_nested_calls(const Event& outer, ApiRole role, std::vector<HeldCall>& held);
  const EventRecord* record_before(const cupti::SynchronizationRecord& wait) const;

  const ActivityScope& scope_;
  EventOutput& output_;
  const std::size_t most_remembered_;
  LaunchTracker launches_;
  RecordClock clock_;
  ApiNames names_;
  ThreadIds threads_;
  Losses losses_;
  Ticks earliest_ = 0, latest_ = ~Ticks{0}, skip_before_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> last_launch_;  // thread -> correlation id of its last launch
  std::uint64_t flushes_ = 0;
  std::uint64_t calls_of_unknown_threads_ = 0;
  bool graph_joins_uncertain_ = false;
  bool under_mps_ = false;
  std::unordered_map<std::uint32_t, std::vector<HeldCall>> held_;
  ContextDevices context_devices_;
  std::unordered_map<std::uint64_t, std::vector<EventRecord>> event_records_;  // by key(context, event)
  std::vector<cupti::SynchronizationRecord> synchronizations_;                 // received since the last flush
  struct Stream {
    std::int32_t priority;
  };
  std::unordered_map<std::uint64_t, Stream> streams_;  // by key(context, stream)
  std::unordered_set<std::uint32_t> devices_;
};

std::string device_properties(const cupti::DeviceRecord& record);

}  // namespace profshim::device
