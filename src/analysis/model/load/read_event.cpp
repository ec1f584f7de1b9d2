#include "read_event.h"

#include <charconv>
#include <utility>

#include "trace/schema.h"

namespace profshim::analysis_detail {

Kind kind_of(std::string_view category) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {schema::category::kCpuOp, Kind::kCpuOp},
      {schema::category::kKernel, Kind::kKernel},
      {schema::category::kCudaRuntime, Kind::kRuntime},
      {schema::category::kPythonFunction, Kind::kPythonFunction},
      {schema::category::kUserAnnotation, Kind::kUserAnnotation},
      {schema::category::kCudaDriver, Kind::kDriver},
      {schema::category::kGpuMemcpy, Kind::kMemcpy},
      {schema::category::kGpuMemset, Kind::kMemset},
      {schema::category::kGpuUserAnnotation, Kind::kGpuAnnotation},
      {schema::category::kOverhead, Kind::kOverhead},
      {schema::category::kPhase, Kind::kPhase},
      {schema::category::kCudaSync, Kind::kSync},
      {schema::category::kCudaEvent, Kind::kSync},
      {schema::category::kOperator2021, Kind::kCpuOp},
      {schema::category::kRuntime2021, Kind::kRuntime},
      {schema::category::kKernel2021, Kind::kKernel},
      {schema::category::kMemcpy2021, Kind::kMemcpy},
      {schema::category::kMemset2021, Kind::kMemset},
  };
  for (const auto& [name, kind] : kKinds) {
    if (name == category) return kind;
  }
  if (category.ends_with(schema::category::kRuntimeEnd)) return Kind::kRuntime;  // xpu_runtime, mtia_runtime
  if (category.ends_with(schema::category::kDriverEnd)) return Kind::kDriver;
  return Kind::kOther;
}

bool is_possible(std::int64_t ns) { return ns >= -TraceMetadata::kMaxNs && ns <= TraceMetadata::kMaxNs; }
bool has_possible_time(const ReadEvent& event) { return event.has_ts && is_possible(event.ts_ns); }

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
