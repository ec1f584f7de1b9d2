#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "fakes/cupti/client.h"

namespace fake::cupti {

namespace {

struct Unfinished {
  Reserved place;
  std::uint64_t number;
};

}  // namespace

void Client::submitted(Work& work) {
  anchor(work);
  bool wanted = false;
  work.wanted = 0;
  if (options_.old_graphs && work.graph != 0 && (first_enable == 0 || work.graph_made < first_enable)) return;
  if (work.first_of_graph) last_graph_ = std::exchange(this_graph_, work.correlation);
  // Subscribers get node records: CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE in cupti_activity.h of 13.3.
  if (kinds_[kGraphTrace] && work.graph != 0 && !is_subscriber_) {
    work.wanted = work.last_of_graph ? static_cast<std::uint32_t>(kGraphTrace) : 0;
    if (work.wanted == 0 || !options_.reserves) return;
    Work graph = work;
    graph.kind = WorkKind::kGraph;
    reserve(graph);
    work.record = graph.record;
    return;
  }
  switch (work.kind) {
    case WorkKind::kKernel:
      wanted = kinds_[kConcurrentKernel] || kinds_[kKernel];
      break;
    case WorkKind::kCopy:
      wanted = kinds_[kMemcpy];
      break;
    case WorkKind::kPeerCopy:
      wanted = kinds_[kMemcpy] && kinds_[kMemcpyPeer];
      break;
    case WorkKind::kSet:
      wanted = kinds_[kMemset];
      break;
    case WorkKind::kGraph:
      break;
  }
  work.wanted = wanted ? 1 : 0;
  if (wanted && options_.reserves) reserve(work);
}

void Client::finished(const Work& work) {
  // `wanted` of a graph's last node is kGraphTrace if the client wants one record per graph.
  const bool is_graph = work.kind == WorkKind::kGraph;
  if (work.wanted == 0 || is_graph != (work.wanted == kGraphTrace)) return;
  const std::lock_guard lock(finished_lock_);
  finished_.push_back({work.end + options_.late_ns, work});
  std::push_heap(finished_.begin(), finished_.end(), later);
  if (finished_.size() == 1) worker_wake_.notify_one();
}

void Client::take_finished(bool all) {
  const std::lock_guard order(take_lock_);
  const std::uint64_t time = realtime();
  std::vector<Finished> taken;
  {
    const std::lock_guard lock(finished_lock_);
    while (!finished_.empty() && ((all && !options_.reserves) || finished_.front().visible <= time)) {
      std::pop_heap(finished_.begin(), finished_.end(), later);
      taken.push_back(std::move(finished_.back()));
      finished_.pop_back();
    }
  }
  if (options_.shuffle) std::shuffle(taken.begin(), taken.end(), random_);
  for (Finished& one : taken) write_work(one.work, one.work.end <= time);
}

void Client::reserve(Work& work) {
  const std::uint64_t number = ++device_records_;
  if (drops(number)) return;
  BufferSlot& slot = per_thread_ ? thread_slot() : device_slot();
  const Reserved place = put(slot, work, {0, 0}, correlation_of(work, number), true);
  if (place.buffer) work.record = std::make_shared<Unfinished>(Unfinished{place, number});
}

void Client::write_work(const Work& work, bool complete) {
  if (work.record) {
    const auto& unfinished = *static_cast<const Unfinished*>(work.record.get());
    return finish_record(work, unfinished.place, times_of(work, unfinished.number));
  }
  if (options_.reserves) return;  // dropped at the launch
  const std::uint64_t number = ++device_records_;
  if (drops(number)) return;
  put(device_slot(), work, complete ? times_of(work, number) : Times{0, 0}, correlation_of(work, number), false);
}

void Client::finish_record(const Work& work, const Reserved& place, Times times) {
  Buffer& buffer = *place.buffer;
  const std::lock_guard guard(buffer.lock);
  if (buffer.returned) return;
  --buffer.incomplete;
  std::uint8_t* const at = buffer.data + place.offset;
  const auto set = [at]<typename Record>(Record record, Times t) {
    std::memcpy(&record, at, std::min(sizeof record, record_bytes(record_kind(at), kSizes)));
    record.start = t.start;
    record.end = t.end;
    if constexpr (requires { record.completed; }) record.completed = t.end;
    std::memcpy(at, &record, std::min(sizeof record, record_bytes(record_kind(at), kSizes)));
  };
  switch (work.kind) {
    case WorkKind::kKernel:
      return set(Kernel{}, times);
    case WorkKind::kCopy:
      return set(Memcpy{}, times);
    case WorkKind::kPeerCopy:
      return set(MemcpyPeer{}, times);
    case WorkKind::kSet:
      return set(Memset{}, times);
    case WorkKind::kGraph:
      return set(GraphTrace{}, times);
  }
}

std::uint32_t Client::record_kind(const std::uint8_t* record) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  return kind;
}

bool Client::drops(std::uint64_t number) {
  if (!fault(options_.drop, number)) return false;
  counters_.dropped++;
  all_dropped_++;
  return true;
}

std::uint32_t Client::correlation_of(const Work& work, std::uint64_t number) const {
  if (options_.graph_sessions && sessions_ > 1 && work.graph != 0 && last_graph_ != 0) return last_graph_;
  return fault(options_.unknown, number) ? 0x40000000u + work.correlation : work.correlation;
}

Reserved Client::put(BufferSlot& slot, const Work& work, Times times, std::uint32_t correlation, bool incomplete) {
  switch (work.kind) {
    case WorkKind::kKernel:
      return write(slot, kernel_record(kinds_[kKernel] ? kKernel : kConcurrentKernel, work, times, correlation),
                   incomplete);
    case WorkKind::kCopy:
      return write(slot, copy_record(work, times, correlation), incomplete);
    case WorkKind::kPeerCopy:
      return write(slot, peer_record(work, times, correlation), incomplete);
    case WorkKind::kSet:
      return write(slot, set_record(work, times, correlation), incomplete);
    case WorkKind::kGraph:
      return write(slot, graph_record(work, times, correlation), incomplete);
  }
  return {};
}

}  // namespace fake::cupti
