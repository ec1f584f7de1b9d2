#include "memory_reader.h"

#include <algorithm>
#include <string>

#include "analysis/model/activity_names.h"
#include "analysis/model/load/read_event.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kMostDevices = 256;  // events of more are left out: the trace is damaged

bool is_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

bool allocates(std::string_view call) {
  return call.find("lloc") != std::string_view::npos || call.find("MemCreate") != std::string_view::npos;
}

bool holds_allocations(Kind kind, std::string_view name) {
  return kind == Kind::kCpuOp || kind == Kind::kUserAnnotation || kind == Kind::kPythonFunction ||
         (is_call(kind) && allocates(name));
}

}  // namespace

void MemoryReader::read_metadata(std::string_view key, std::string_view json) {
  metadata_.read(key, json);
  std::sort(metadata_.merged.begin(), metadata_.merged.end(),
            [](const MergedRankInfo& a, const MergedRankInfo& b) { return a.first_pid < b.first_pid; });
}

void MemoryReader::add(const ReadEvent& event) {
  const bool is_slice = event.is(schema::phase::kSlice) && event.category != schema::category::kTrace;
  const bool is_memory = event.is(schema::phase::kInstant) && is_memory_event(event);
  if (!is_slice && !is_memory) return;
  if (!has_possible_time(event) || (is_slice && !TraceMetadata::is_possible(event.duration_ns))) {
    ++impossible_;
    return;
  }
  note_time(event.ts_ns);
  is_slice ? add_slice(event) : add_memory(event);
}

void MemoryReader::add_slice(const ReadEvent& event) {
  const Kind kind = kind_of(event.category);
  if (!holds_allocations(kind, event.name) || event.duration_ns < 0) return;
  const std::uint32_t track = tracks_.find(event, 0, texts_);
  if (const std::optional<std::int64_t> number = step_number(event.name)) {
    if (metadata_.merged.empty())
      steps_.push_back({.number = *number, .begin_ns = event.ts_ns, .duration_ns = event.duration_ns});
    return;
  }
  Item item;
  item.slice = {event.ts_ns,       event.ts_ns + event.duration_ns, text(event.name),
                stack_text(event), kind == Kind::kPythonFunction,   is_call(kind)};
  put(track, item);
}

void MemoryReader::add_memory(const ReadEvent& event) {
  const MemoryRecord record = memory_record(event);
  const std::size_t device = device_of(event, record);
  if (device >= kMostDevices) {
    ++impossible_;
    return;
  }
  Item item;
  item.slice.begin_ns = item.slice.end_ns = record.at_ns;
  item.event = static_cast<std::uint32_t>(events_.size());
  events_.push_back({record.at_ns, record.bytes, record.address, record.allocated, record.reserved, OperatorTree::kRoot,
                     static_cast<std::uint16_t>(device), record.failed});
  put(tracks_.find(event, 0, texts_), item);
}

void MemoryReader::put(std::uint32_t track, const Item& item) {
  if (order_ == Order::kByTime) return place(track, item);
  if (track >= items_.size()) items_.resize(track + 1);
  items_[track].push_back(item);
}

void MemoryReader::place(std::uint32_t track, const Item& item) {
  if (item.event == kNone) {
    tree_.begin(track, item.slice);
  } else {
    events_[item.event].node = tree_.node_at(track, item.slice.begin_ns);
  }
}

void MemoryReader::finish() {
  for (std::uint32_t track = 0; track < items_.size(); ++track) {
    std::deque<Item>& items = items_[track];
    const auto is_earlier = [](const Item& a, const Item& b) { return a.slice.begin_ns < b.slice.begin_ns; };
    if (!std::is_sorted(items.begin(), items.end(), is_earlier)) {
      std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
        if (a.slice.begin_ns != b.slice.begin_ns) return is_earlier(a, b);
        return a.slice.end_ns > b.slice.end_ns;
      });
    }
    for (const Item& item : items) place(track, item);
    items.clear();
  }
  std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; });
}

std::uint64_t MemoryReader::bytes() const {
  // An event, its places in the lists of follow_blocks(), and the entry of its block there.
  constexpr std::uint64_t kOfEvent = sizeof(MemoryEvent) + 96, kOfNode = 2 * sizeof(OperatorTree::Node) + 32,
                          kOfText = 128;
  return events_.size() * kOfEvent + tree_.size() * kOfNode + texts_.size() * kOfText + text_bytes_ +
         steps_.size() * sizeof(Step);
}

TextId MemoryReader::text(std::string_view text) {
  const std::size_t before = texts_.size();
  const TextId id = texts_.add(text);
  if (texts_.size() > before) text_bytes_ += text.size();
  return id;
}

TextId MemoryReader::stack_text(const ReadEvent& event) {
  std::string_view python, native;
  for (const ReadEvent::ReadArg& arg : event.args) {
    if (arg.key == schema::arg::kCallStack) python = arg.text;
    if (arg.key == schema::arg::kNativeStack) native = arg.text;
  }
  if (native.empty()) return text(python);
  return text(((std::string(python) += ";native: ") += native));
}

std::size_t MemoryReader::device_of(const ReadEvent& event, const MemoryRecord& record) {
  constexpr std::int32_t kCpu = 0;
  MemoryDevice device{merged_rank(event.pid_is_number ? event.pid : -1), record.device_type, record.device_index,
                      record.allocated >= 0};
  if (device.type == kCpu) device.index = -1;  // PyTorch writes -1 or 0
  auto at = std::find(devices_.begin(), devices_.end(), device);
  if (at == devices_.end() && devices_.size() < kMostDevices) at = devices_.insert(at, device);
  return static_cast<std::size_t>(at - devices_.begin());
}

int MemoryReader::merged_rank(std::int64_t pid) const {
  int rank = -1;
  for (const MergedRankInfo& one : metadata_.merged) {
    if (one.first_pid <= pid) rank = one.rank;
  }
  return rank;
}

}  // namespace profshim::analysis_detail
