#include "span_tree.h"

#include <algorithm>
#include <tuple>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

Launches::Launches(const Timeline& timeline) : timeline_(timeline) {
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
    const Slice& s = timeline.slices[i];
    const bool is_operator = s.kind == Kind::kCpuOp || s.kind == Kind::kUserAnnotation;
    if (is_operator && s.external_id != 0) operators_.emplace_back(s.external_id, i);
    if (is_api_call(s.kind) && s.correlation != 0) calls_.emplace_back(s.correlation, i);
  }
  std::sort(operators_.begin(), operators_.end());
  std::sort(calls_.begin(), calls_.end());
}

std::uint32_t Launches::find(const std::vector<Link>& links, std::int64_t number) {
  if (number == 0) return kNone;
  const auto at = std::lower_bound(links.begin(), links.end(), Link{number, 0});
  return at == links.end() || at->first != number ? kNone : at->second;
}

std::uint32_t Launches::operator_of_call(const Slice& call) const {
  // Until 2024-10 Kineto wrote the correlation as External id of a call without an operator.
  return call.external_id == call.correlation ? kNone : find(operators_, call.external_id);
}

std::uint32_t Launches::launcher_of(const Slice& activity) const {
  if (const std::uint32_t op = find(operators_, activity.external_id); op != kNone) return op;
  const std::uint32_t call = find(calls_, activity.correlation);
  if (call == kNone) return kNone;
  const std::uint32_t op = operator_of_call(timeline_.slices[call]);
  return op != kNone ? op : call;
}

namespace {

class SpanTree {
 public:
  SpanTree(const Timeline& timeline, RowNames& names, Texts& row_texts, MemorySums& memory)
      : timeline_(timeline), names_(names), row_texts_(row_texts), memory_(memory), launches_(timeline) {}

  std::vector<HostSpan> build() {
    collect();
    nest();
    fold();
    add_device_time();
    return std::move(spans_);
  }

 private:
  void collect() {
    for (std::uint32_t i = 0; i < timeline_.slices.size(); ++i) {
      const Slice& s = timeline_.slices[i];
      if (!has_host_row(s)) continue;
      if (s.asynchronous) {
        if (!memory_.empty()) memory_.cover(s.begin_ns, s.end_ns());
        continue;
      }
      const std::uint32_t name = names_.name_of(s.name);
      if (name == kNone) continue;
      HostSpan span{.begin = s.begin_ns, .end = s.end_ns(), .track = s.track, .name = name, .slice = i};
      if (is_api_call(s.kind)) {
        if (const std::uint32_t op = launches_.operator_of_call(s); op != kNone)
          span.track = timeline_.slices[op].track;
      }
      if (!memory_.empty()) {
        span.bytes = memory_.during(span.begin, span.end);
        memory_.cover(span.begin, span.end);
      }
      spans_.push_back(span);
    }
    for (const MemoryRecord* record : memory_.uncovered()) add_record(*record);
    for (const MemoryRecord& record : timeline_.memory) {
      if (record.failed) add_record(record);
    }
    std::stable_sort(spans_.begin(), spans_.end(), [](const HostSpan& a, const HostSpan& b) {
      return std::tie(a.track, a.begin, b.end) < std::tie(b.track, b.begin, a.end);
    });
  }

  void add_record(const MemoryRecord& record) {
    spans_.push_back({.begin = record.at_ns,
                      .end = record.at_ns,
                      .track = record.track,
                      .name = row_texts_.add(record.failed ? schema::name::kOutOfMemory : schema::name::kMemory),
                      .bytes = bytes_of(record)});
  }

  void nest() {
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      HostSpan& span = spans_[i];
      if (i > 0 && spans_[i - 1].track != span.track) open.clear();
      while (!open.empty() && (span.begin >= spans_[open.back()].end || span.end > spans_[open.back()].end)) {
        open.pop_back();
      }
      if (!open.empty()) {
        span.parent = open.back();
        ++spans_[span.parent].children;
      }
      open.push_back(i);
    }
  }

  /// One pass folds whole chains, since parents come before their children.
  void fold() {
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      HostSpan& span = spans_[i];
      if (span.parent == kNone) continue;
      span.parent = unfolded(span.parent);
      HostSpan& parent = spans_[span.parent];
      if (parent.name == span.name && parent.children == 1) {
        parent.children = span.children;
        span.folded_into = span.parent;
      } else {
        parent.children_ns += span.ns();
        parent.children_bytes.cpu += span.bytes.cpu;
        parent.children_bytes.device += span.bytes.device;
      }
    }
  }

  std::uint32_t unfolded(std::uint32_t span) const {
    return spans_[span].folded_into == kNone ? span : spans_[span].folded_into;
  }

  void add_device_time() {
    std::vector<std::uint32_t> span_of(timeline_.slices.size(), kNone);
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      if (spans_[i].slice != kNone) span_of[spans_[i].slice] = i;
    }
    for (const Slice& s : timeline_.slices) {
      if (!is_device_work(s.kind) || names_.name_of(s.name) == kNone) continue;
      const std::uint32_t launcher = launches_.launcher_of(s);
      if (launcher == kNone || span_of[launcher] == kNone) continue;
      spans_[unfolded(span_of[launcher])].own_device_ns += static_cast<double>(s.duration_ns);
    }
    for (std::size_t i = spans_.size(); i-- > 0;) {
      HostSpan& span = spans_[i];
      if (span.folded_into != kNone) continue;
      span.device_ns += span.own_device_ns;
      if (span.parent != kNone) spans_[span.parent].device_ns += span.device_ns;
    }
  }

  const Timeline& timeline_;
  RowNames& names_;
  Texts& row_texts_;
  MemorySums& memory_;
  Launches launches_;
  std::vector<HostSpan> spans_;
};

}  // namespace

std::vector<HostSpan> build_spans(const Timeline& timeline, RowNames& names, Texts& row_texts, MemorySums& memory) {
  return SpanTree(timeline, names, row_texts, memory).build();
}

}  // namespace profshim::analysis_detail
