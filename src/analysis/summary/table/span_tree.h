// Nesting of the host events of one file, with the time and memory of each event and of its children.
//
//  * On one thread, events are sorted by begin and, with the same begin, the longer first. The parent of an event is
//  the
//    nearest open one that encloses it.
//  * An only child with the name of its parent is folded into the parent.
//  * An API call is nested on the thread of the operator that its External id names.
//  * Device activity belongs to the event that launched it, or to the parent into which that event is folded.
//  * A memory record that no event encloses has a span of its own. So has every failed allocation.
//  * Asynchronous events have neither parent nor children, and no device time.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/timeline.h"
#include "memory_sums.h"
#include "row_names.h"

namespace profshim::analysis_detail {

struct HostSpan {
  std::int64_t begin = 0, end = 0;
  std::uint32_t track = 0, name = 0;  // name: of the row
  std::uint32_t slice = kNone;        // kNone: a memory record
  std::uint32_t parent = kNone;       // kNone: top level
  std::uint32_t children = 0;
  std::uint32_t folded_into = kNone;  // the parent that took this span over
  double children_ns = 0;
  double own_device_ns = 0, device_ns = 0;  // launched by this span; also by its children
  MemoryBytes bytes, children_bytes;
  double ns() const { return static_cast<double>(end - begin); }
};

/// Returns the spans by track and time: a parent stands before its children. Covers the records of `memory` that are in
/// an event.
std::vector<HostSpan> build_spans(const Timeline& timeline, RowNames& names, Texts& row_texts, MemorySums& memory);

}  // namespace profshim::analysis_detail
