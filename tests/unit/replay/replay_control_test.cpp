// The comparison can fail: every change of one field of one record, and every lost row, is a difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "differences.h"
#include "fakes/cupti_records.h"
#include "originals.h"
#include "replay.h"

namespace profshim::replay {
namespace {

namespace raw = fake::cupti;

using List = std::vector<Record>;
List& calls_of(Records& records) { return records.calls.begin()->second; }

List::iterator first_of_kind(List& list, std::uint32_t kind) {
  return std::find_if(list.begin(), list.end(), [kind](const Record& record) { return record.kind == kind; });
}

/// Changes the first record of a kind.
template <class Struct, class Change>
std::function<void(Records&)> changed(List Records::*list, std::uint32_t kind, Change change) {
  return [=](Records& records) {
    Record& record = *first_of_kind(records.*list, kind);
    Struct fields;
    std::memcpy(static_cast<void*>(&fields), record.bytes.data(), sizeof fields);
    change(fields);
    std::memcpy(record.bytes.data(), &fields, sizeof fields);
  };
}
template <class Change>
auto kernel(Change change) {
  return changed<raw::Kernel>(&Records::device, raw::kConcurrentKernel, change);
}
template <class Change>
auto copy(Change change) {
  return changed<raw::Memcpy>(&Records::device, raw::kMemcpy, change);
}
template <class Change>
auto memset_record(Change change) {
  return changed<raw::Memset>(&Records::device, raw::kMemset, change);
}
template <class Change>
auto overhead(Change change) {
  return changed<raw::Overhead>(&Records::device, raw::kOverhead, change);
}
template <class Change>
auto device_record(Change change) {
  return changed<raw::Device>(&Records::device, raw::kDevice, change);
}
template <class Change>
auto wait(Change change) {
  return changed<raw::Synchronization>(&Records::waits, raw::kSynchronization, change);
}
template <class Change>
auto event_record(Change change) {
  return changed<raw::CudaEvent>(&Records::events, raw::kCudaEvent, change);
}
/// The first call that launches something.
template <class Change>
std::function<void(Records&)> call(Change change) {
  return [=](Records& records) {
    constexpr std::uint32_t kMemcpyAsync = 41, kLaunchKernel = 211;
    Record& record = *std::find_if(calls_of(records).begin(), calls_of(records).end(), [](const Record& one) {
      return one.callback_id == kMemcpyAsync || one.callback_id == kLaunchKernel;
    });
    raw::Api fields;
    std::memcpy(static_cast<void*>(&fields), record.bytes.data(), sizeof fields);
    change(fields);
    record.callback_id = fields.callback_id;
    std::memcpy(record.bytes.data(), &fields, sizeof fields);
  };
}
std::function<void(Records&)> lost(List Records::*list, std::uint32_t kind) {
  return [=](Records& records) { (records.*list).erase(first_of_kind(records.*list, kind)); };
}

struct Control {
  const char* name;
  const Original& original;
  std::function<void(Records&)> tamper;
};

const Original& kNanoseconds = kOriginals[1];
const Original& kSyncs = kOriginals[2];
const Original& kGraphs = kOriginals[3];

const std::vector<Control>& controls() {
  static const auto& all = *new std::vector<Control>{
      {"a kernel begins 1 ns later", kNanoseconds, kernel([](auto& r) { ++r.start; })},
      {"a kernel ends 1 ns later", kNanoseconds, kernel([](auto& r) { ++r.end; })},
      {"a kernel is lost", kNanoseconds, lost(&Records::device, raw::kConcurrentKernel)},
      {"a kernel is there twice", kNanoseconds,
       [](Records& r) { r.device.push_back(*first_of_kind(r.device, raw::kConcurrentKernel)); }},
      {"another kernel", kNanoseconds, kernel([](auto& r) { r.name = "other"; })},
      {"another device", kNanoseconds, kernel([](auto& r) { r.device = 1; })},
      {"another context", kNanoseconds, kernel([](auto& r) { r.context = 2; })},
      {"another stream", kNanoseconds, kernel([](auto& r) { r.stream = 8; })},
      {"another launch", kNanoseconds, kernel([](auto& r) { ++r.correlation; })},
      {"another grid", kNanoseconds, kernel([](auto& r) { ++r.grid[2]; })},
      {"another block", kNanoseconds, kernel([](auto& r) { ++r.block[1]; })},
      {"more registers", kNanoseconds, kernel([](auto& r) { ++r.registers_per_thread; })},
      {"more static shared memory", kNanoseconds, kernel([](auto& r) { ++r.static_shared; })},
      {"more dynamic shared memory", kNanoseconds, kernel([](auto& r) { ++r.dynamic_shared; })},
      {"a cluster", kNanoseconds, kernel([](auto& r) { r.cluster[0] = r.cluster[1] = r.cluster[2] = 2; })},
      {"a node of a graph", kNanoseconds, kernel([](auto& r) { r.graph = 5; })},
      {"a copy of another size", kNanoseconds, copy([](auto& r) { ++r.bytes; })},
      {"a copy in another direction", kNanoseconds, copy([](auto& r) { r.copy_kind = 2; })},
      {"a copy from other memory", kNanoseconds, copy([](auto& r) { r.source = 1; })},
      {"a copy ends 1 ns later", kNanoseconds, copy([](auto& r) { ++r.end; })},
      {"a call begins 1 ns later", kNanoseconds, call([](auto& r) { ++r.start; })},
      {"a call ends 1 ns later", kNanoseconds, call([](auto& r) { ++r.end; })},
      {"a call of another function", kNanoseconds, call([](auto& r) { r.callback_id = 211 + 41 - r.callback_id; })},
      {"a call of another thread", kNanoseconds, call([](auto& r) { r.thread = 0x12345; })},
      {"a call that failed", kNanoseconds, call([](auto& r) { r.result = 2; })},
      {"a call is lost", kNanoseconds, call([](auto& r) { r.start = r.end = 0; })},
      {"overhead of another kind", kNanoseconds, overhead([](auto& r) { r.overhead_kind = 2 << 16; })},
      {"overhead ends 1 ns later", kNanoseconds, overhead([](auto& r) { ++r.end; })},
      {"a memset of another size", kSyncs, memset_record([](auto& r) { ++r.bytes; })},
      {"a memset of other memory", kSyncs, memset_record([](auto& r) { r.memory_kind = 2; })},
      {"a wait of another kind", kSyncs, wait([](auto& r) { r.type = 3; })},
      {"a wait for another event", kSyncs, wait([](auto& r) { ++r.event; })},
      {"a wait ends later", kSyncs, wait([](auto& r) { r.end += 1000; })},
      {"a wait is lost", kSyncs, lost(&Records::waits, raw::kSynchronization)},
      {"an event of another stream", kSyncs, event_record([](auto& r) { ++r.stream; })},
      {"another record of an event", kSyncs, event_record([](auto& r) { ++r.correlation; })},
      {"the record of an event is lost", kSyncs, lost(&Records::events, raw::kCudaEvent)},
      {"fewer multiprocessors", kSyncs, device_record([](auto& r) { --r.multiprocessors; })},
      {"a device of another name", kSyncs, device_record([](auto& r) { r.name = "other"; })},
      {"a device is lost", kSyncs, lost(&Records::device, raw::kDevice)},
      {"a node of another graph", kGraphs,
       [](Records& records) {
         for (Record& record : records.device) {
           if (record.kind != raw::kMemset) continue;
           raw::Memset fields;
           std::memcpy(static_cast<void*>(&fields), record.bytes.data(), sizeof fields);
           fields.graph += 100;
           std::memcpy(record.bytes.data(), &fields, sizeof fields);
         }
       }},
  };
  return all;
}

TEST(ReplayControl, EveryChangeOfARecordIsADifference) {
  for (const Original& original : kOriginals) {
    const Replayed untouched = replay(trace_of(original), kGenerations[2], {});
    const Expectation expected = expected_rows(trace_of(original), untouched, false);
    ASSERT_TRUE(compare(expected, untouched.trace, original.dialect).differences.empty()) << original.test_name;
  }
  for (const Control& control : controls()) {
    SCOPED_TRACE(control.name);
    const Trace& trace = trace_of(control.original);
    const Replayed replayed = replay(trace, kGenerations[2], {}, control.tamper);
    const Comparison found = compare(expected_rows(trace, replayed, false), replayed.trace, control.original.dialect);

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
