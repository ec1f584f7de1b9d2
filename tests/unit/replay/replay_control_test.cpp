// The replay must find every tampered field except flags, memset values, padding and most fields of a context, which no
// trace shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "differences.h"
#include "fakes/cupti/records.h"
#include "originals.h"
#include "replay.h"
#include "unit/not_under_tsan.h"

namespace profshim::replay {
namespace {

namespace raw = fake::cupti;

using List = std::vector<Record>;
using Tamper = std::function<void(Records&)>;

template <class Struct>
constexpr std::uint32_t kKindOf = 0;
template <>
constexpr std::uint32_t kKindOf<raw::Kernel> = raw::kConcurrentKernel;
template <>
constexpr std::uint32_t kKindOf<raw::Memcpy> = raw::kMemcpy;
template <>
constexpr std::uint32_t kKindOf<raw::Memset> = raw::kMemset;
template <>
constexpr std::uint32_t kKindOf<raw::Overhead> = raw::kOverhead;
template <>
constexpr std::uint32_t kKindOf<raw::Device> = raw::kDevice;
template <>
constexpr std::uint32_t kKindOf<raw::Context> = raw::kContext;
template <>
constexpr std::uint32_t kKindOf<raw::Stream> = raw::kStream;
template <>
constexpr std::uint32_t kKindOf<raw::Synchronization> = raw::kSynchronization;
template <>
constexpr std::uint32_t kKindOf<raw::CudaEvent> = raw::kCudaEvent;
template <>
constexpr std::uint32_t kKindOf<raw::Api> = raw::kRuntime;

List& list_of(Records& records, std::uint32_t kind) {
  switch (kind) {
    case raw::kRuntime:
      return records.calls.begin()->second;
    case raw::kSynchronization:
      return records.waits;
    case raw::kCudaEvent:
    case raw::kStream:
      return records.events;
    default:
      return records.device;
  }
}

/// Skips runtime calls that neither launch nor copy.
bool is_chosen(const Record& record, std::uint32_t kind) {
  constexpr std::uint32_t kMemcpyAsync = 41, kLaunchKernel = 211;
  if (record.kind != kind) return false;
  return kind != raw::kRuntime || record.callback_id == kMemcpyAsync || record.callback_id == kLaunchKernel;
}

template <class Struct, class Change>
void edit(Record& record, Change change) {
  Struct fields;
  std::memcpy(static_cast<void*>(&fields), record.bytes.data(), sizeof fields);
  change(fields);
  std::memcpy(record.bytes.data(), &fields, sizeof fields);
  if constexpr (std::is_same_v<Struct, raw::Api>) record.callback_id = fields.callback_id;
}

List::iterator find_in(List& list, std::uint32_t kind) {
  return std::find_if(list.begin(), list.end(), [kind](const Record& record) { return is_chosen(record, kind); });
}

template <class Struct, class Change>
Tamper first(Change change) {
  return [=](Records& records) { edit<Struct>(*find_in(list_of(records, kKindOf<Struct>), kKindOf<Struct>), change); };
}

template <class Struct, class Change>
Tamper every(Change change) {
  return [=](Records& records) {
    for (Record& record : list_of(records, kKindOf<Struct>)) {
      if (is_chosen(record, kKindOf<Struct>)) edit<Struct>(record, change);
    }
  };
}

template <class Struct>
Tamper lost() {
  return [](Records& records) {
    List& list = list_of(records, kKindOf<Struct>);
    list.erase(find_in(list, kKindOf<Struct>));
  };
}

template <class Struct>
Tamper twice() {
  return [](Records& records) {
    List& list = list_of(records, kKindOf<Struct>);
    list.push_back(Record(*find_in(list, kKindOf<Struct>)));
  };
}

struct Control {
  std::string name;
  const Original& original;
  Tamper tamper;
  bool streams = false;
};
using Controls = std::vector<Control>;

const Original& kNanoseconds = original_called("B200Vllm");
const Original& kSyncs = original_called("EventSync");
const Original& kGraphs = original_called("Graphs");

template <class Struct>
void add_work(Controls& all, const std::string& name, const Original& original) {
  const std::uint64_t shortest_ns = original.dialect.whole_microseconds ? 1000 : 1;
  const auto add = [&](const char* change, Tamper tamper) {
    all.push_back({name + ": " + change, original, std::move(tamper)});
  };
  add("lost", lost<Struct>());
  add("there twice", twice<Struct>());
  add("begins later", first<Struct>([=](auto& r) { r.start += shortest_ns; }));
  add("ends later", first<Struct>([=](auto& r) { r.end += shortest_ns; }));
  add("another device", first<Struct>([](auto& r) { ++r.device; }));
  add("another context", first<Struct>([](auto& r) { ++r.context; }));
  add("another stream", first<Struct>([](auto& r) { ++r.stream; }));
  add("another launch", first<Struct>([](auto& r) { ++r.correlation; }));
  add("a node of a graph", first<Struct>([](auto& r) { r.graph = 5; }));
}

void add_kernel(Controls& all) {
  add_work<raw::Kernel>(all, "a kernel", kNanoseconds);
  const auto add = [&all](const char* name, auto change) {
    all.push_back({name, kNanoseconds, first<raw::Kernel>(change)});
  };
  add("another kernel", [](auto& r) { r.name = "other"; });
  for (const std::size_t i : {0, 1, 2}) {
    add("another grid", [i](auto& r) { ++r.grid[i]; });
    add("another block", [i](auto& r) { ++r.block[i]; });
  }
  add("more registers", [](auto& r) { ++r.registers_per_thread; });
  add("more static shared memory", [](auto& r) { ++r.static_shared; });
  add("more dynamic shared memory", [](auto& r) { ++r.dynamic_shared; });
  add("a cluster", [](auto& r) { r.cluster[0] = r.cluster[1] = r.cluster[2] = 2; });
}

void add_copy_and_memset(Controls& all) {
  add_work<raw::Memcpy>(all, "a copy", kNanoseconds);
  all.push_back({"a copy of another size", kNanoseconds, first<raw::Memcpy>([](auto& r) { ++r.bytes; })});
  all.push_back({"a copy in another direction", kNanoseconds, first<raw::Memcpy>([](auto& r) { r.copy_kind = 2; })});
  all.push_back({"a copy from other memory", kNanoseconds, first<raw::Memcpy>([](auto& r) { r.source ^= 1; })});
  all.push_back({"a copy to other memory", kNanoseconds, first<raw::Memcpy>([](auto& r) { r.target ^= 1; })});
  add_work<raw::Memset>(all, "a memset", kSyncs);
  all.push_back({"a memset of another size", kSyncs, first<raw::Memset>([](auto& r) { ++r.bytes; })});
  all.push_back({"a memset of other memory", kSyncs, first<raw::Memset>([](auto& r) { r.memory_kind = 2; })});
  all.push_back({"nodes of another graph", kGraphs, every<raw::Memset>([](auto& r) { r.graph += 100; })});
  all.push_back({"other nodes of a graph", kGraphs, every<raw::Memset>([](auto& r) { ++r.graph_node; })});
}

void add_calls(Controls& all) {
  const auto add = [&all](const char* name, auto change) {
    all.push_back({name, kNanoseconds, first<raw::Api>(change)});
  };
  add("a call begins 1 ns later", [](auto& r) { ++r.start; });
  add("a call ends 1 ns later", [](auto& r) { ++r.end; });
  add("a call of another function", [](auto& r) { r.callback_id = 211 + 41 - r.callback_id; });
  add("a call of another thread", [](auto& r) { r.thread = 0x12345; });
  add("a call with another number", [](auto& r) { r.correlation += 1 << 28; });
  add("a call that failed", [](auto& r) { r.result = 2; });
  add("a call without times", [](auto& r) { r.start = r.end = 0; });
  all.push_back({"a call is lost", kNanoseconds, lost<raw::Api>()});
  all.push_back(
      {"overhead of another kind", kNanoseconds, first<raw::Overhead>([](auto& r) { r.overhead_kind = 2 << 16; })});
  all.push_back({"overhead begins 1 ns later", kNanoseconds, first<raw::Overhead>([](auto& r) { ++r.start; })});
  all.push_back({"overhead ends 1 ns later", kNanoseconds, first<raw::Overhead>([](auto& r) { ++r.end; })});
  all.push_back({"overhead is lost", kNanoseconds, lost<raw::Overhead>()});
}

void add_waits(Controls& all) {
  const auto wait = [&all](const char* name, auto change) {
    all.push_back({name, kSyncs, first<raw::Synchronization>(change)});
  };
  wait("a wait of another kind", [](auto& r) { r.type = 3; });
  wait("a wait begins later", [](auto& r) { r.start += 1000; });
  wait("a wait ends later", [](auto& r) { r.end += 1000; });
  wait("a wait of another call", [](auto& r) { ++r.correlation; });
  wait("a wait in another context", [](auto& r) { ++r.context; });
  wait("a wait for another event", [](auto& r) { ++r.event; });
  // The first waits are for an event and have stream -1, so every wait is changed.
  all.push_back({"waits of other streams", kSyncs, every<raw::Synchronization>([](auto& r) { ++r.stream; })});
  all.push_back({"a wait is lost", kSyncs, lost<raw::Synchronization>()});
  const auto event = [&all](const char* name, auto change) {
    all.push_back({name, kSyncs, first<raw::CudaEvent>(change)});
  };
  event("another record of an event", [](auto& r) { ++r.correlation; });
  event("an event of another context", [](auto& r) { ++r.context; });
  event("an event of another stream", [](auto& r) { ++r.stream; });
  event("another event", [](auto& r) { ++r.event; });
  all.push_back({"the record of an event is lost", kSyncs, lost<raw::CudaEvent>()});
}

void add_devices(Controls& all) {
  const auto add = [&all](const char* name, auto change) { all.push_back({name, kSyncs, first<raw::Device>(change)}); };
  add("another device", [](auto& r) { r.id += 8; });
  add("a device of another name", [](auto& r) { r.name = "other"; });
  add("a device with other memory", [](auto& r) { ++r.memory_bytes; });
  add("another major compute capability", [](auto& r) { ++r.major; });
  add("another minor compute capability", [](auto& r) { ++r.minor; });
  add("fewer multiprocessors", [](auto& r) { --r.multiprocessors; });
  add("larger warps", [](auto& r) { r.warp *= 2; });
  add("more warps in a multiprocessor", [](auto& r) { ++r.warps_per_sm; });
  add("more threads in a block", [](auto& r) { ++r.threads_per_block; });
  add("more registers in a block", [](auto& r) { ++r.registers_per_block; });
  add("more registers in a multiprocessor", [](auto& r) { ++r.registers_per_sm; });
  add("more shared memory in a block", [](auto& r) { ++r.shared_per_block; });
  add("more shared memory in a multiprocessor", [](auto& r) { ++r.shared_per_sm; });
  add("another UUID", [](auto& r) { ++r.uuid[15]; });
  all.push_back({"a device is lost", kSyncs, lost<raw::Device>()});
  all.push_back({"a context of another device", kSyncs, every<raw::Context>([](auto& r) { ++r.device; })});
  all.push_back({"streams of another priority", kSyncs, every<raw::Stream>([](auto& r) { ++r.priority; }), true});
  all.push_back({"the streams of another context", kSyncs, every<raw::Stream>([](auto& r) { ++r.context; }), true});
}

Controls all_controls() {
  Controls all;
  add_kernel(all);
  add_copy_and_memset(all);
  add_calls(all);
  add_waits(all);
  add_devices(all);
  return all;
}

TEST(ReplayControl, AnUntouchedReplayHasNoDifference) {
  NOT_UNDER_TSAN("one thread, and takes minutes");
  for (const Original& original : kOriginals) {
    const Replayed untouched = replay(trace_of(original), kGenerations[2], {});
    const Expectation expected = expected_rows(trace_of(original), untouched, false);
    EXPECT_TRUE(compare(expected, untouched.trace, original.dialect).differences.empty()) << original.test_name;
  }
}

TEST(ReplayControl, AChangeOfARecordIsADifference) {
  NOT_UNDER_TSAN("one thread, and takes minutes");
  for (const auto& [name, original, tamper, streams] : all_controls()) {
    SCOPED_TRACE(name);
    const Trace& trace = trace_of(original);
    const Replayed replayed = replay(trace, kGenerations[2], {.streams = streams}, tamper);
    const Comparison found = compare(expected_rows(trace, replayed, streams), replayed.trace, original.dialect);

    EXPECT_FALSE(found.differences.empty());
    EXPECT_LT(found.differences.size(), 200u) << "one change, " << first_of(found.differences);
  }
}

TEST(ReplayControl, EveryLostRowIsADifference) {
  const Trace& trace = trace_of(kSyncs);
  const Replayed replayed = replay(trace, kGenerations[2], {});
  const Expectation expected = expected_rows(trace, replayed, false);
  const std::size_t compared = expected.rows.size();

  std::size_t noticed = 0;
  for (std::size_t i = 0; i < replayed.trace.rows.size(); ++i) {
    Trace without = replayed.trace;
    without.rows.erase(without.rows.begin() + static_cast<std::ptrdiff_t>(i));
    noticed += compare(expected, without, kSyncs.dialect).differences.empty() ? 0 : 1;
  }

  EXPECT_EQ(noticed, compared);
}

}  // namespace
}  // namespace profshim::replay
