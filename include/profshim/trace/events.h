// Events of a Kineto trace, as the writer takes them. src/trace/schema.h has the words of the format.
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
  kAc2g,      // flows from a launch to its device work
  kFwdBwd,    // flows from an operator to its backward function
  kRankFlow,  // flows between ranks, in merged traces: a message, a request, a collective's last member
};

/// A JSON text that the writer copies without a check; the caller makes sure that it is valid.
struct RawJson {
  std::string_view text;
};
/// One member of args.
struct Arg {
  std::string_view key;
  std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view, RawJson> value;
};

/// One element of traceEvents. Times are nanoseconds since the epoch; the writer makes them relative to the base.
struct TraceEvent {
  char phase = 'X';  // X, M, i, b, n, e, s, t, f, C
  Category category = Category::kNone;
  std::string_view other_category;  // used if category is kNone: one that profshim itself does not write
  std::string_view name;
  std::int64_t pid = 0, tid = 0;
  /// Replace the numbers if text_ids is set: "Spans", "Traces" and "" of Kineto's own marks.
  std::string_view pid_text, tid_text;
  bool text_ids = false;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  // X only
  std::uint64_t id = 0;          // b, n, e, s, t, f
  char scope = 't';              // i only: t, p, g
  std::span<const Arg> args;
};

}  // namespace profshim
