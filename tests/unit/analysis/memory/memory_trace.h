#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/memory/device_memory.h"
#include "analysis/memory/memory_reader.h"

namespace profshim::analysis_detail::test {

/// An event [memory]; < 0 = no such argument.
struct MadeMemory {
  double ts = 0;
  std::int64_t bytes = 0, address = 0, allocated = -1, reserved = -1;
  int type = 1, index = 0, tid = 1;
  bool failed = false;
};

inline std::string json_of(const MadeMemory& m) {
  std::string args = R"("Device Type": )" + std::to_string(m.type) + R"(, "Device Id": )" + std::to_string(m.index) +
                     R"(, "Bytes": )" + std::to_string(m.bytes);
  if (m.address > 0) args += R"(, "Addr": )" + std::to_string(m.address);
  if (m.allocated >= 0) args += R"(, "Total Allocated": )" + std::to_string(m.allocated);
  if (m.reserved >= 0) args += R"(, "Total Reserved": )" + std::to_string(m.reserved);
  return std::string(R"({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": ")") +
         (m.failed ? "[OutOfMemory]" : "[memory]") + R"(", "pid": 1, "tid": )" + std::to_string(m.tid) + R"(, "ts": )" +
         std::to_string(m.ts) + ", \"args\": {" + args + "}}";
}

inline std::string slice_json(const std::string& name, double ts, double dur, const std::string& category = "cpu_op",
                              const std::string& args = "", int tid = 1) {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": 1, "tid": )" +
         std::to_string(tid) + R"(, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
         ", \"args\": {" + args + "}}";
}

inline std::string trace_of(const std::vector<std::string>& events, const std::string& members = "") {
  std::string text = "{" + members + "\"traceEvents\": [";
  for (const std::string& event : events) text += (text.ends_with('[') ? "" : ",\n") + event;
  return text + "]}";
}

inline std::string memory_trace(const std::vector<MadeMemory>& events) {
  std::vector<std::string> texts;
  for (const MadeMemory& event : events) texts.push_back(json_of(event));
  return trace_of(texts);
}

inline std::unique_ptr<MemoryReader> read(const std::string& trace,
                                          MemoryReader::Order order = MemoryReader::Order::kAny) {
  auto reader = std::make_unique<MemoryReader>(order);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader->read_metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader->add(event);
    return true;
  };
  read_trace_bytes(trace, visitor);
  reader->finish();
  return reader;
}

/// Of the events of one device.
inline DeviceMemory blocks_of(const MemoryReader& reader, std::size_t device = 0) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < reader.events().size(); ++i) {
    if (reader.events()[i].device == device && !reader.events()[i].failed) numbers.push_back(i);
  }
  return follow_blocks(reader.events(), std::move(numbers));
}

}  // namespace profshim::analysis_detail::test
