#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"
#include "memory_sums.h"
#include "row_names.h"

namespace profshim::analysis_detail {

constexpr bool is_api_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

/// Returns indices of slices, or kNone.
class Launches {
 public:
  explicit Launches(const Timeline& timeline);
  std::uint32_t operator_of_call(const Slice& call) const;
  /// Returns the operator that launched `activity`, or else the API call.
  std::uint32_t launcher_of(const Slice& activity) const;

 private:
  using Link = std::pair<std::int64_t, std::uint32_t>;  // External id or correlation, slice

  static std::uint32_t find(const std::vector<Link>& links, std::int64_t number);

  const Timeline& timeline_;
  std::vector<Link> operators_;
  std::vector<Link> calls_;
};

// Nests the host events of one file.
//
//  * The parent is the nearest enclosing event of the thread.
//  * An only child with its parent's name is folded into the parent.
//  * An API call is nested on the thread of its operator (External id).
//  * Device activity belongs to its launcher, or to the parent into which the launcher was folded.
//  * A memory record outside all events has its own span, as has every failed allocation.
//  * Asynchronous events have no parent, children or device time.

/// Slices of unknown categories have rows, too: as functions of the host.
constexpr bool has_host_row(const Slice& slice) {
  return is_host(slice.kind) || (slice.kind == Kind::kOther && slice.name != 0);
}

struct HostSpan {
  std::int64_t begin = 0, end = 0;
  std::uint32_t track = 0, name = 0;
  std::uint32_t slice = kNone;   // kNone: a memory record
  std::uint32_t parent = kNone;  // kNone: top level
  std::uint32_t children = 0;
  std::uint32_t folded_into = kNone;
  double children_ns = 0;
  double own_device_ns = 0, device_ns = 0;  // without and with the children's
  MemoryBytes bytes, children_bytes;
  double ns() const { return static_cast<double>(end - begin); }
};

/// Parents come before their children. Marks the records of `memory` that lie in an event as covered.
std::vector<HostSpan> build_spans(const Timeline& timeline, RowNames& names, Texts& row_texts, MemorySums& memory);

}  // namespace profshim::analysis_detail
