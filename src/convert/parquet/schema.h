// The columns of the Parquet table. Each event is one row, in the order of the files. Unknown values are null, never 0
// or -1. Arguments without a column of their own go to `args`. Other members of an event ("bp", and members that Kineto
// does not write) are dropped.
//
//   phase            X, i, C, b, e, n, s, t, f, M; "metadata" for a member of the file other than traceEvents, with its
//                    key in `name` and its value as JSON in `args`
//   rank, host       rank and host of the trace; in a merged trace, of the event's process
//   window, step     number of the window; N of the rank's ProfilerStep#N during which the event began
//   pid, tid         numbers as in the trace; pid_text, tid_text if they are texts ("Spans")
//   ts_ns            begin in nanoseconds since the epoch; null if the trace has no base time
//   trace_ts_ns      begin as in the trace, relative to its base time
//   dur_ns           duration of X
//   id               id of b, e, n, s, t, f; the hash of an id that is a text
//   scope            scope of i
//   correlation ... group_size: the arguments with the names below, if they have the type of the column
//   args             all other arguments, as a JSON object
//   file             the input file, as named by the user
//
// Parquet: zstd, row groups of 262144 rows; all text columns but `args` are dictionaries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/schema.h"

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
  /// The names of the event arguments in this column; "" = none.
  std::array<std::string_view, 2> arguments = {};
};

/// Indexed by ColumnId.
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
