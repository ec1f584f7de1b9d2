#include "read_event.h"

#include <charconv>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

bool has_possible_time(const ReadEvent& event) { return event.has_ts && TraceMetadata::is_possible(event.ts_ns); }

std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::string_view kStart = schema::name::kStepStart;
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

bool is_memory_event(const ReadEvent& event) {
  return event.name == schema::name::kMemory || event.name == schema::name::kOutOfMemory;
}

MemoryRecord memory_record(const ReadEvent& event) {
  MemoryRecord record{.at_ns = event.ts_ns, .failed = event.name == schema::name::kOutOfMemory};
  for (const ReadEvent::ReadArg& arg : event.args) {
    if (arg.key == schema::arg::kMemoryBytes) record.bytes = arg.integer;
    if (arg.key == schema::arg::kDeviceType) record.device_type = static_cast<std::int32_t>(arg.integer);
    if (arg.key == schema::arg::kDeviceId) record.device_index = static_cast<std::int32_t>(arg.integer);
    if (arg.key == schema::arg::kAddress) record.address = arg.integer;
    if (arg.key == schema::arg::kTotalAllocated) record.allocated = arg.integer;
    if (arg.key == schema::arg::kTotalReserved) record.reserved = arg.integer;
  }
  return record;
}

}  // namespace profshim::analysis_detail
