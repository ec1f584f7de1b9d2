#include "file_rows.h"

#include "memory_sums.h"
#include "row_names.h"
#include "span_tree.h"

namespace profshim::analysis_detail {
namespace {

class FileRows {
 public:
  FileRows(KeyRows& rows, const Timeline& timeline, int node_id, std::uint64_t file, bool by_shapes)
      : rows_(rows),
        timeline_(timeline),
        node_id_(node_id),
        file_(file),
        by_shapes_(by_shapes),
        names_(timeline.texts, rows.texts()),
        memory_(timeline.memory) {}

  void add_all() {
    for (const HostSpan& span : build_spans(timeline_, names_, rows_.texts(), memory_)) {
      if (span.folded_into == kNone) add_span(span);
    }
    for (const Slice& s : timeline_.slices) {
      if (is_device_work(s.kind) || s.kind == Kind::kGpuAnnotation) {
        add_device_event(s);
      } else if (has_host_row(s) && s.asynchronous) {
        add_asynchronous(s);
      }
    }
  }

 private:
  std::uint32_t shapes_of(TextId input_dims) { return by_shapes_ ? names_.shapes_of(input_dims) : 0; }

  EventPlace place_of(const Slice& s) const {
    return {s.begin_ns, s.end_ns(), static_cast<std::uint64_t>(&s - timeline_.slices.data()), file_};
  }

  void add_span(const HostSpan& span) {
    const Slice* const slice = span.slice == kNone ? nullptr : &timeline_.slices[span.slice];
    const EventPlace place =
        slice != nullptr ? place_of(*slice) : EventPlace{span.begin, span.end, timeline_.slices.size(), file_};
    KeyRow& row = rows_.add_event({.name = span.name,
                                   .shapes = shapes_of(slice != nullptr ? slice->input_dims : 0),
                                   .node_id = node_id_,
                                   .on_device = false,
                                   .annotation = slice != nullptr && slice->kind == Kind::kUserAnnotation,
                                   .asynchronous = false},
                                  place, span.parent == kNone);
    row.cpu_total_us += span.ns();
    row.self_cpu_us += span.ns() - span.children_ns;
    row.self_device_us += span.own_device_ns;
    row.device_total_us += span.device_ns;
    if (slice != nullptr) row.flops += static_cast<double>(slice->flops);
    row.cpu_bytes += span.bytes.cpu;
    row.device_bytes += span.bytes.device;
    row.self_cpu_bytes += span.bytes.cpu - span.children_bytes.cpu;
    row.self_device_bytes += span.bytes.device - span.children_bytes.device;
  }

  void add_device_event(const Slice& s) {
    const std::uint32_t name = names_.name_of(s.name);
    if (name == kNone) return;
    KeyRow& row = rows_.add_event({.name = name,
                                   .shapes = shapes_of(s.input_dims),
                                   .node_id = node_id_,
                                   .on_device = true,
                                   .annotation = s.kind == Kind::kGpuAnnotation,
                                   .asynchronous = false},
                                  place_of(s), true);
    row.self_device_us += static_cast<double>(s.duration_ns);
    row.device_total_us += static_cast<double>(s.duration_ns);
  }

  void add_asynchronous(const Slice& s) {
    const std::uint32_t name = names_.name_of(s.name);
    if (name == kNone) return;
    KeyRow& row = rows_.add_event({.name = name,
                                   .shapes = shapes_of(s.input_dims),
                                   .node_id = node_id_,
                                   .on_device = false,
                                   .annotation = s.kind == Kind::kUserAnnotation,
                                   .asynchronous = true},
                                  place_of(s), true);
    row.cpu_total_us += static_cast<double>(s.duration_ns);
    if (memory_.empty()) return;
    const MemoryBytes bytes = memory_.during(s.begin_ns, s.end_ns());
    row.cpu_bytes += bytes.cpu;
    row.device_bytes += bytes.device;
  }

  KeyRows& rows_;
  const Timeline& timeline_;
  int node_id_;
  std::uint64_t file_;
  bool by_shapes_;
  RowNames names_;
  MemorySums memory_;
};

}  // namespace

void add_file_rows(KeyRows& rows, const Timeline& timeline, int node_id, std::uint64_t file, bool by_shapes) {
  FileRows(rows, timeline, node_id, file, by_shapes).add_all();
}

}  // namespace profshim::analysis_detail
