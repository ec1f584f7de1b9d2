// Events of a Kineto trace, as the writer takes them. Words: src/trace/schema.h.
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
  kAc2g,      // flows from launches to device work
  kFwdBwd,    // flows from operators to backward functions
  kRankFlow,  // flows between ranks in merged traces: messages, requests, collectives
};

/// Copied without a check; the caller makes sure that it is valid JSON.
struct RawJson {
  std::string_view text;
};
/// Member of args.
struct Arg {
  std::string_view key;
  std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view, RawJson> value;
};

/// Element of traceEvents. Nanoseconds since the epoch; the writer makes times relative to the base.
struct TraceEvent {
  char phase = 'X';  // X, M, i, b, n, e, s, t, f, C
  Category category = Category::kNone;
  std::string_view other_category;  // if category is kNone: one that profshim does not write
  std::string_view name;
  std::int64_t pid = 0, tid = 0;
  /// Replace the numbers if text_ids is set.
  std::string_view pid_text, tid_text;
  bool text_ids = false;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  // X only
  std::uint64_t id = 0;          // b, n, e, s, t, f
  char scope = 't';              // i only: t, p, g
  std::span<const Arg> args;
};

}  // namespace profshim
