#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "analysis/model/load/read_event.h"
#include "analysis/model/timeline.h"
#include "operator_tree.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

struct MemoryDevice {
  int rank = -1;          // in a merged trace
  std::int32_t type = 0;  // PyTorch's number: 0 = CPU, 1 = CUDA
  std::int32_t index = -1;
  bool has_totals = false;  // its allocator reports totals: PyTorch's does, CUDA does not
  bool operator==(const MemoryDevice&) const = default;
};

/// An event [memory] or [OutOfMemory], with the operators around it.
struct MemoryEvent {
  std::int64_t at_ns = 0, bytes = 0;  // bytes < 0: a release
  std::int64_t address = 0;           // 0 = not given
  std::int64_t allocated = -1, reserved = -1;
  OperatorTree::NodeId node = OperatorTree::kRoot;
  std::uint16_t device = 0;  // index in MemoryReader::devices()
  bool failed = false;
};
static_assert(sizeof(MemoryEvent) == 48);

/// Reads the memory events of a trace. Needs far less memory than a Timeline.
class MemoryReader {
 public:
  enum class Order : std::uint8_t {
    kByTime,  // the events of a track come as TraceWriter's callers write them
    kAny,
  };
  explicit MemoryReader(Order order) : order_(order), tree_(texts_) {}
  MemoryReader(const MemoryReader&) = delete;  // tree_ refers to texts_
  MemoryReader& operator=(const MemoryReader&) = delete;

  void read_metadata(std::string_view key, std::string_view json);
  void add(const ReadEvent& event);
  /// Enough for an event that allocates nothing and contains no allocation.
  void note_time(std::int64_t begin_ns) { first_ns_ = std::min(first_ns_, begin_ns); }
  /// Call after the last event.
  void finish();
  /// Memory in use, with that of the analysis to come.
  std::uint64_t bytes() const;

  const TraceMetadata& metadata() const { return metadata_; }
  const std::deque<MemoryEvent>& events() const { return events_; }
  const std::vector<MemoryDevice>& devices() const { return devices_; }
  const OperatorTree& tree() const { return tree_; }
  const std::vector<Step>& steps() const { return steps_; }  // sorted by time; none of a merged trace
  std::int64_t first_ns() const { return first_ns_; }        // the earliest event; has the base time of the events
  std::uint64_t impossible() const { return impossible_; }   // events without a possible time

 private:
  /// A slice, or a memory event, of a track.
  struct Item {
    OperatorTree::Slice slice;
    std::uint32_t event = kNone;
  };

  void add_slice(const ReadEvent& event);
  void add_memory(const ReadEvent& event);
  void put(std::uint32_t track, const Item& item);
  void place(std::uint32_t track, const Item& item);
  TextId text(std::string_view text);
  TextId stack_text(const ReadEvent& event);
  std::size_t device_of(const ReadEvent& event, const MemoryRecord& record);
  int merged_rank(std::int64_t pid) const;

  const Order order_;
  TraceMetadata metadata_;
  Texts texts_;
  std::uint64_t text_bytes_ = 0;
  OperatorTree tree_;
  TrackTable tracks_;
  std::deque<MemoryEvent> events_;
  std::vector<MemoryDevice> devices_;
  std::vector<Step> steps_;
  std::vector<std::deque<Item>> items_;  // by track; only with Order::kAny
  std::int64_t first_ns_ = TraceMetadata::kMaxNs;
  std::uint64_t impossible_ = 0;
};

}  // namespace profshim::analysis_detail
