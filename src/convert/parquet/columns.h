// Columns of the Parquet table: one row per event, in file order. Unknown values are null. Event members that have
// no column ("bp") are dropped.
//
//    phase            X, i, C, b, e, n, s, t, f, M; "metadata" for a top-level member: key in `name`, JSON in `args`
//    rank, host       of the trace; in a merged trace, of the event's process
//    window, step     window number; N of the rank's ProfilerStep#N during which the event began
//    pid, tid         as in the trace; if they are texts ("Spans"), pid_text and tid_text
//    ts_ns            since the epoch
//    trace_ts_ns      since the trace's base time
//    id               of b, e, n, s, t, f; a text is hashed
//    correlation ...  arguments by name, if their type fits
//    args             all other arguments, as JSON
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "profshim/trace/schema.h"

namespace profshim::convert_detail {

enum class ColumnType : std::uint8_t { kInt32, kInt64, kDictionary, kText };

enum class ColumnId : std::uint8_t {
  kRank,
  kHost,
  kWindow,
  kStep,
  kPid,
  kTid,
  kPidText,
  kTidText,
  kPhase,
  kCategory,
  kName,
  kTs,
  kTraceTs,
  kDuration,
  kId,
  kScope,
  kCorrelation,
  kExternalId,
  kDevice,
  kStream,
  kBytes,
  kCount,
  kDtype,
  kCollective,
  kCommunicator,
  kSequence,
  kInElements,
  kOutElements,
  kGroupSize,
  kArgs,
  kFile,
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(ColumnId::kFile) + 1;

struct ColumnSpec {
  std::string_view name;
  ColumnType type;
  /// Event arguments in this column; "" = none.
  std::array<std::string_view, 2> arguments = {};
};

inline constexpr std::array<ColumnSpec, kColumns> kColumnSpecs = {{
    {"rank", ColumnType::kInt32},
    {"host", ColumnType::kDictionary},
    {"window", ColumnType::kInt64},
    {"step", ColumnType::kInt64},
    {"pid", ColumnType::kInt64},
    {"tid", ColumnType::kInt64},
    {"pid_text", ColumnType::kDictionary},
    {"tid_text", ColumnType::kDictionary},
    {"phase", ColumnType::kDictionary},
    {"category", ColumnType::kDictionary},
    {"name", ColumnType::kDictionary},
    {"ts_ns", ColumnType::kInt64},
    {"trace_ts_ns", ColumnType::kInt64},
    {"dur_ns", ColumnType::kInt64},
    {"id", ColumnType::kInt64},
    {"scope", ColumnType::kDictionary},
    {"correlation", ColumnType::kInt64, {schema::arg::kCorrelation}},
    {"external_id", ColumnType::kInt64, {schema::arg::kExternalId, schema::arg::kExternalId2021}},
    {"device", ColumnType::kInt64, {schema::arg::kDevice}},
    {"stream", ColumnType::kInt64, {schema::arg::kStream}},
    {"bytes", ColumnType::kInt64, {schema::arg::kBytes}},
    {"count", ColumnType::kInt64, {schema::arg::kCount}},
    {"dtype", ColumnType::kDictionary, {schema::arg::kDtype}},
    {"collective", ColumnType::kDictionary, {schema::arg::kCollective}},
    {"communicator", ColumnType::kDictionary, {schema::arg::kGroupName, schema::arg::kCommId}},
    {"seq", ColumnType::kInt64, {schema::arg::kSequence}},
    {"in_elements", ColumnType::kInt64, {schema::arg::kInElements}},
    {"out_elements", ColumnType::kInt64, {schema::arg::kOutElements}},
    {"group_size", ColumnType::kInt64, {schema::arg::kGroupSize}},
    {"args", ColumnType::kText},
    {"file", ColumnType::kDictionary},
}};

}  // namespace profshim::convert_detail
