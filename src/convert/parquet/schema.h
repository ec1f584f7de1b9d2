// The columns of a trace as a table: a row for each event, in the order of the files. What is not known is null, never
// 0 or -1. No argument is lost: what has no column of its own stands in `args`. Other members of an event ("bp", and
// what Kineto does not write) are not kept.
//
//   phase            of the event: X, i, C, b, e, n, s, t, f, M; "metadata" for a member of the file beside its events,
//                    with its key in `name` and its value, as JSON, in `args`
//   rank, host       of the job; in a merged trace of each event's process
//   window, step     number of the window, and N of the ProfilerStep#N of that rank during which the event began
//   pid, tid         numbers as written; pid_text, tid_text where there are texts ("Spans")
//   ts_ns            begin, nanoseconds since the epoch; null where the trace does not say since when it counts
//   trace_ts_ns      the same as written, since the trace's own base
//   dur_ns           of X
//   id               of b, e, n, s, t, f; of a text its hash
//   scope            of i
//   correlation … group_size: the arguments of those names (below), where they are of that type
//   args             all other arguments, a JSON object
//   file             the input, as it was named
//
// Parquet: zstd, row groups of 262144 rows, texts but `args` as dictionaries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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
  /// The arguments that it holds; "" = none.
  std::array<std::string_view, 2> arguments = {};
};

/// By ColumnId.
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
    {"correlation", ColumnType::kInt64, {"correlation"}},
    {"external_id", ColumnType::kInt64, {"External id", "external id"}},
    {"device", ColumnType::kInt64, {"device"}},
    {"stream", ColumnType::kInt64, {"stream"}},
    {"bytes", ColumnType::kInt64, {"bytes"}},
    {"count", ColumnType::kInt64, {"count"}},
    {"dtype", ColumnType::kDictionary, {"dtype"}},
    {"collective", ColumnType::kDictionary, {"Collective name"}},
    {"communicator", ColumnType::kDictionary, {"Process Group Name", "comm id"}},
    {"seq", ColumnType::kInt64, {"Seq"}},
    {"in_elements", ColumnType::kInt64, {"In msg nelems"}},
    {"out_elements", ColumnType::kInt64, {"Out msg nelems"}},
    {"group_size", ColumnType::kInt64, {"Group size"}},
    {"args", ColumnType::kText},
    {"file", ColumnType::kDictionary},
}};

}  // namespace profshim::convert_detail
