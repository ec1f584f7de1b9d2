// The events of a Kineto trace, for TraceWriter.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace profshim {

enum class Category : std::uint8_t {
  kNone,
  kCpuOp,
  kUserAnnotation,
  kPythonFunction,
  kTrace,
  kCpuInstantEvent,
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kGpuUserAnnotation,
  kCudaRuntime,
  kCudaDriver,
  kCudaSync,
  kOverhead,
  kAc2g,      // flows from launches to device activity
  kFwdBwd,    // flows from operators to backward functions
  kPhase,     // occurrences of the spec's phases
  kRankFlow,  // flows between ranks in merged traces: messages, requests, collectives
};

/// The writer copies `text` without a check.
struct RawJson {
  std::string_view text;
};
struct Arg {
  std::string_view key;
  std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view, RawJson> value;
};

/// One element of traceEvents. Times are nanoseconds since the epoch; the writer subtracts the trace's base time.
struct TraceEvent {
  char phase = 'X';  // "ph": X, M, i, b, n, e, s, t, f, C
  Category category = Category::kNone;
  std::string_view other_category;  // another tool's category, with kNone
  std::string_view name;
  std::int64_t pid = 0, tid = 0;
  /// Used instead of `pid` and `tid` if text_ids is set.
  std::string_view pid_text, tid_text;
  bool text_ids = false;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  // phase X only
  std::uint64_t id = 0;          // phases b, n, e, s, t, f
  char scope = 't';              // phase i only: t, p, g (thread, process, global)
  std::span<const Arg> args;
  std::span<const Arg> more_args;  // behind `args`
};

}  // namespace profshim
