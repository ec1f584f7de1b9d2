#include "key_averages.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>

#include "analysis/model/intervals.h"
#include "analysis/model/one_job.h"
#include "trace/schema.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::string_view kSkipped[] = {schema::name::kMemory,
                                         schema::name::kOutOfMemory,
                                         "profiler::_record_function_enter",
                                         "profiler::_record_function_enter_new",
                                         "profiler::_record_function_exit",
                                         "aten::is_leaf",
                                         "aten::output_nr",
                                         "aten::_version"};

std::string row_name(std::string_view name) {
  if (name.starts_with(schema::name::kStepStart)) return "ProfilerStep*";
  std::string text(name);
  if (name.starts_with("_Z")) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && plain != nullptr) text = plain.get();
  }
  return text;
}

// As Python prints a list.
std::string shapes_text(std::string_view json) {
  std::string text;
  for (const char c : json) {
    text += c;
    if (c == ',') text += ' ';
  }
  return text.empty() ? "[]" : text;
}

/// A number that joins slices, and a slice that bears it.
using Link = std::pair<std::int64_t, std::uint32_t>;

std::uint32_t find(const std::vector<Link>& links, std::int64_t number) {
  if (number == 0) return kNone;
  const auto at = std::lower_bound(links.begin(), links.end(), Link{number, 0});
  return at == links.end() || at->first != number ? kNone : at->second;
}

bool is_cpu(std::int32_t device_type) { return device_type == 0 || device_type == 2 || device_type == 5; }
bool is_gpu(std::int32_t device_type) {  // CUDA, HIP, XPU, PrivateUse1
  return device_type == 1 || device_type == 6 || device_type == 12 || device_type == 20;
}

/// What was allocated, by time: the sum over an interval is a difference of two sums.
class MemorySums {
 public:
  struct Bytes {
    double cpu = 0, device = 0;
  };
  explicit MemorySums(const std::vector<MemoryRecord>& records) {
    for (const MemoryRecord& record : records) {
      if (!record.failed) in_time_.push_back(&record);
    }
    std::stable_sort(in_time_.begin(), in_time_.end(),
                     [](const MemoryRecord* a, const MemoryRecord* b) { return a->at_ns < b->at_ns; });
    until_.resize(in_time_.size() + 1);
    covers_.resize(in_time_.size() + 1);
    for (std::size_t i = 0; i < in_time_.size(); ++i) {
      const Bytes own = bytes_of(*in_time_[i]);
      until_[i + 1] = {until_[i].cpu + own.cpu, until_[i].device + own.device};
    }
  }

  bool empty() const { return in_time_.empty(); }

  static Bytes bytes_of(const MemoryRecord& record) {
    const auto bytes = static_cast<double>(record.bytes);
    return {is_cpu(record.device_type) ? bytes : 0, is_gpu(record.device_type) ? bytes : 0};
  }

  /// From begin to end, both included.
  Bytes during(std::int64_t begin, std::int64_t end) {
    const auto first =
        std::partition_point(in_time_.begin(), in_time_.end(), [=](const MemoryRecord* r) { return r->at_ns < begin; });
    const auto last =
        std::partition_point(first, in_time_.end(), [=](const MemoryRecord* r) { return r->at_ns <= end; });
    const auto from = static_cast<std::size_t>(first - in_time_.begin());
    const auto to = static_cast<std::size_t>(last - in_time_.begin());
    ++covers_[from];
    --covers_[to];
    return {until_[to].cpu - until_[from].cpu, until_[to].device - until_[from].device};
  }

  /// Those that no interval asked for so far holds.
  std::vector<const MemoryRecord*> outside() const {
    std::vector<const MemoryRecord*> result;
    std::int64_t covers = 0;
    for (std::size_t i = 0; i < in_time_.size(); ++i) {
      covers += covers_[i];
      if (covers == 0) result.push_back(in_time_[i]);
    }
    return result;
  }

 private:
  std::vector<const MemoryRecord*> in_time_;
  std::vector<Bytes> until_;
  std::vector<std::int64_t> covers_;  // how many intervals begin there, less those that ended before
};

}  // namespace

bool is_collective_kernel(std::string_view name) {
  constexpr std::string_view kParts[] = {schema::name::kNcclStart, "rccl", "cross_device_reduce"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [=](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool KeyAverages::Place::before(const Place& other) const {
  return std::tie(begin, other.end, file, in_file) < std::tie(other.begin, end, other.file, other.in_file);
}

KeyAverages::Row& KeyAverages::row(const RowKey& key, const Place& place, bool top_level) {
  const auto [at, is_new] = index_.emplace(key, rows_.size());
  if (is_new) {
    KeyRow sums;
    sums.name = texts_[key.name];
    sums.input_shapes = texts_[key.shapes];
    sums.node_id = key.node_id;
    sums.on_device = key.on_device;
    sums.annotation = key.annotation;
    sums.asynchronous = key.asynchronous;
    sums.top_level = top_level;
    rows_.push_back({std::move(sums), place});
  }
  Row& found = rows_[at->second];
  if (place.before(found.first)) {
    found.first = place;
    found.sums.top_level = top_level;
  }
  ++found.sums.calls;
  return found;
}

DeviceUse& KeyAverages::device_use(int node_id) {
  for (DeviceUse& use : table_.devices) {
    if (use.node_id == node_id) return use;
  }
  return table_.devices.emplace_back(DeviceUse{.node_id = node_id});
}

/// The work on one file: what is needed to tell parents, kernels and memory of each slice, gone when its rows are made.
class FileRows {
 public:
  FileRows(KeyAverages& all, const Timeline& timeline, int node_id)
      : all_(all), t_(timeline), node_id_(node_id), memory_(timeline.memory) {}

  void run() {
    link();
    collect();
    nest();
    fold();
    give_kernels();
    emit_spans();
    emit_others();
    device_use();
  }

 private:
  using Place = KeyAverages::Place;

  /// A host slice that nests, and what lies in it.
  struct Span {
    std::int64_t begin = 0, end = 0;
    std::uint32_t track = 0, name = 0;  // name: of the row
    std::uint32_t slice = kNone;        // kNone: a memory record
    std::uint32_t parent = kNone;       // kNone: top level
    std::uint32_t children = 0;
    std::uint32_t into = kNone;  // the span it was folded into
    double children_ns = 0;
    double own_device_ns = 0, device_ns = 0;
    MemorySums::Bytes bytes, children_bytes;
    double ns() const { return static_cast<double>(end - begin); }
  };

  // ---- names

  /// The name of the row, kNone for what is left out.
  std::uint32_t name_of(TextId text) {
    if (names_.empty()) names_.assign(t_.texts.size(), kUnknown);
    std::uint32_t& name = names_[text];
    if (name == kUnknown) {
      const std::string_view own = t_.texts[text];
      const bool skipped = std::find(std::begin(kSkipped), std::end(kSkipped), own) != std::end(kSkipped);
      name = skipped ? kNone : all_.texts_.add(row_name(own));
    }
    return name;
  }

  std::uint32_t shapes_of(TextId text) {
    if (shapes_.empty()) shapes_.assign(t_.texts.size(), kUnknown);
    std::uint32_t& shapes = shapes_[text];
    if (shapes == kUnknown) shapes = all_.texts_.add(shapes_text(t_.texts[text]));
    return shapes;
  }

  // ---- what belongs together

  void link() {
    for (std::uint32_t i = 0; i < t_.slices.size(); ++i) {
      const Slice& s = t_.slices[i];
      const bool is_operator = s.kind == Kind::kCpuOp || s.kind == Kind::kUserAnnotation;
      if (is_operator && s.external_id != 0) operators_.emplace_back(s.external_id, i);
      if (is_call(s.kind) && s.correlation != 0) calls_.emplace_back(s.correlation, i);
    }
    std::sort(operators_.begin(), operators_.end());
    std::sort(calls_.begin(), calls_.end());
  }

  static bool is_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

  // Until 2024-10 a call without an operator bore its correlation as External id too, which may be another operator's.
  std::uint32_t operator_of_call(const Slice& call) const {
    return call.external_id == call.correlation ? kNone : find(operators_, call.external_id);
  }

  /// The host slice that launched this device work.
  std::uint32_t launcher_of(const Slice& work) const {
    if (const std::uint32_t at = find(operators_, work.external_id); at != kNone) return at;
    const std::uint32_t call = find(calls_, work.correlation);
    if (call == kNone) return kNone;
    const std::uint32_t at = operator_of_call(t_.slices[call]);
    return at != kNone ? at : call;
  }

  // ---- nesting

  void collect() {
    for (std::uint32_t i = 0; i < t_.slices.size(); ++i) {
      const Slice& s = t_.slices[i];
      if (!is_host(s.kind) || s.asynchronous) continue;
      const std::uint32_t name = name_of(s.name);
      if (name == kNone) continue;
      Span span{.begin = s.begin_ns, .end = s.end_ns(), .track = s.track, .name = name, .slice = i};
      if (is_call(s.kind)) {
        if (const std::uint32_t op = operator_of_call(s); op != kNone) span.track = t_.slices[op].track;
      }
      if (!memory_.empty()) span.bytes = memory_.during(span.begin, span.end);
      spans_.push_back(span);
    }
    if (!memory_.empty()) {  // asynchronous work holds records too
      for (const Slice& s : t_.slices) {
        if (is_host(s.kind) && s.asynchronous) memory_.during(s.begin_ns, s.end_ns());
      }
    }
    for (const MemoryRecord* record : memory_.outside()) add_record(*record);
    for (const MemoryRecord& record : t_.memory) {
      if (record.failed) add_record(record);
    }
    std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      return std::tie(a.track, a.begin, b.end) < std::tie(b.track, b.begin, a.end);
    });
  }

  void add_record(const MemoryRecord& record) {
    spans_.push_back({.begin = record.at_ns,
                      .end = record.at_ns,
                      .track = record.track,
                      .name = all_.texts_.add(record.failed ? schema::name::kOutOfMemory : schema::name::kMemory),
                      .bytes = MemorySums::bytes_of(record)});
  }

  void nest() {
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      Span& span = spans_[i];
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

  // Parents stand before their children: one pass finds chains too.
  void fold() {
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      Span& span = spans_[i];
      if (span.parent == kNone) continue;
      span.parent = stays(span.parent);
      Span& parent = spans_[span.parent];
      if (parent.name == span.name && parent.children == 1) {
        parent.children = span.children;
        span.into = span.parent;
      } else {
        parent.children_ns += span.ns();
        parent.children_bytes.cpu += span.bytes.cpu;
        parent.children_bytes.device += span.bytes.device;
      }
    }
  }

  std::uint32_t stays(std::uint32_t span) const { return spans_[span].into == kNone ? span : spans_[span].into; }

  // ---- device

  void give_kernels() {
    std::vector<std::uint32_t> span_of(t_.slices.size(), kNone);
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      if (spans_[i].slice != kNone) span_of[spans_[i].slice] = i;
    }
    for (const Slice& work : t_.slices) {
      if (!is_device_work(work.kind) || name_of(work.name) == kNone) continue;
      const std::uint32_t launcher = launcher_of(work);
      if (launcher == kNone || span_of[launcher] == kNone) continue;
      spans_[stays(span_of[launcher])].own_device_ns += static_cast<double>(work.duration_ns);
    }
    for (std::size_t i = spans_.size(); i-- > 0;) {
      Span& span = spans_[i];
      if (span.into != kNone) continue;
      span.device_ns += span.own_device_ns;
      if (span.parent != kNone) spans_[span.parent].device_ns += span.device_ns;
    }
  }

  void device_use() {
    std::map<std::int64_t, std::vector<Interval>> work, compute, communication;  // by device
    for (const Slice& s : t_.slices) {
      if (!is_device_work(s.kind)) continue;
      const std::int64_t device = t_.tracks[s.track].pid;
      const Interval interval{s.begin_ns, s.end_ns()};
      work[device].push_back(interval);
      if (s.kind != Kind::kKernel) continue;
      const bool communicates = s.communication != kNone || collective(s.name);
      (communicates ? communication : compute)[device].push_back(interval);
    }
    DeviceUse& use = all_.device_use(node_id_);
    for (auto& [device, intervals] : work) {
      const auto in_collectives = merged(std::move(communication[device]));
      const auto in_compute = merged(std::move(compute[device]));
      use.any = true;
      use.busy_us += covered(merged(std::move(intervals))) / 1000;
      use.communication_us += covered(in_collectives) / 1000;
      use.exposed_us += (covered(in_collectives) - common(in_collectives, in_compute)) / 1000;
    }
  }

  bool collective(TextId name) {
    if (collective_.empty()) collective_.assign(t_.texts.size(), -1);
    signed char& known = collective_[name];
    if (known < 0) known = is_collective_kernel(t_.texts[name]) ? 1 : 0;
    return known == 1;
  }

  // ---- rows

  Place place_of(const Slice& s) const {
    return {s.begin_ns, s.end_ns(), static_cast<std::uint64_t>(&s - t_.slices.data()), all_.files_};
  }

  void emit_spans() {
    for (const Span& span : spans_) {
      if (span.into != kNone) continue;
      const Slice* const slice = span.slice == kNone ? nullptr : &t_.slices[span.slice];
      const Place place =
          slice != nullptr ? place_of(*slice) : Place{span.begin, span.end, t_.slices.size(), all_.files_};
      const TextId dims = slice != nullptr ? slice->input_dims : 0;
      KeyRow& sums = all_.row({.name = span.name,
                               .shapes = all_.group_by_shapes_ ? shapes_of(dims) : 0,
                               .node_id = node_id_,
                               .on_device = false,
                               .annotation = slice != nullptr && slice->kind == Kind::kUserAnnotation,
                               .asynchronous = false},
                              place, span.parent == kNone)
                         .sums;
      sums.cpu_total_us += span.ns();
      sums.self_cpu_us += span.ns() - span.children_ns;
      sums.self_device_us += span.own_device_ns;
      sums.device_total_us += span.device_ns;
      if (slice != nullptr) sums.flops += static_cast<double>(slice->flops);
      sums.cpu_bytes += span.bytes.cpu;
      sums.device_bytes += span.bytes.device;
      sums.self_cpu_bytes += span.bytes.cpu - span.children_bytes.cpu;
      sums.self_device_bytes += span.bytes.device - span.children_bytes.device;
    }
  }

  // Device work, ranges as streams saw them, asynchronous work.
  void emit_others() {
    for (const Slice& s : t_.slices) {
      const bool on_device = is_device_work(s.kind) || s.kind == Kind::kGpuAnnotation;
      if (!on_device && !(is_host(s.kind) && s.asynchronous)) continue;
      const std::uint32_t name = name_of(s.name);
      if (name == kNone) continue;
      KeyRow& sums = all_.row({.name = name,
                               .shapes = all_.group_by_shapes_ ? shapes_of(s.input_dims) : 0,
                               .node_id = node_id_,
                               .on_device = on_device,
                               .annotation = s.kind == Kind::kGpuAnnotation || s.kind == Kind::kUserAnnotation,
                               .asynchronous = !on_device},
                              place_of(s), true)
                         .sums;
      const auto ns = static_cast<double>(s.duration_ns);
      if (on_device) {
        sums.self_device_us += ns;
        sums.device_total_us += ns;
      } else {
        sums.cpu_total_us += ns;
        if (!memory_.empty()) {
          const MemorySums::Bytes bytes = memory_.during(s.begin_ns, s.end_ns());
          sums.cpu_bytes += bytes.cpu;
          sums.device_bytes += bytes.device;
        }
      }
    }
  }

  static constexpr std::uint32_t kUnknown = kNone - 1;
  KeyAverages& all_;
  const Timeline& t_;
  int node_id_;
  MemorySums memory_;
  std::vector<std::uint32_t> names_, shapes_;  // by TextId of the file
  std::vector<signed char> collective_;
  std::vector<Link> operators_, calls_;  // by External id, by correlation
  std::vector<Span> spans_;              // by track and time
};

void KeyAverages::add(const Timeline& timeline, int node_id) {
  FileRows(*this, timeline, node_id).run();
  ++files_;
  table_.memory = table_.memory || timeline.profile_memory || !timeline.memory.empty();
  table_.dropped_events += timeline.dropped;
  table_.drops_known = table_.drops_known && timeline.dialect == Dialect::kProfshim;
  table_.incomplete_files += timeline.complete ? 0 : 1;
  table_.truncated = table_.truncated || timeline.truncated;
  table_.warnings.insert(table_.warnings.end(), timeline.warnings.begin(), timeline.warnings.end());
}

KeyTable KeyAverages::finish() {
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.first.before(b.first); });
  for (Row& row : rows_) {
    KeyRow& sums = row.sums;
    for (double* us : {&sums.self_cpu_us, &sums.cpu_total_us, &sums.self_device_us, &sums.device_total_us}) *us /= 1000;
    table_.rows.push_back(std::move(sums));
  }
  std::sort(table_.devices.begin(), table_.devices.end(),
            [](const DeviceUse& a, const DeviceUse& b) { return a.node_id < b.node_id; });
  return std::move(table_);
}

}  // namespace profshim::analysis_detail

namespace profshim {

KeyTable key_averages(const std::vector<std::string>& paths, bool group_by_shapes) {
  using namespace analysis_detail;
  KeyAverages averages(group_by_shapes);
  OneJob job;
  for (const std::string& path : paths) {
    const std::vector<Timeline> timelines = load_timelines(path, {.input_dims = group_by_shapes});
    for (const Timeline& timeline : timelines) {
      job.add(timeline);
      averages.add(timeline, paths.size() > 1 || timelines.size() > 1 ? timeline.rank : -1);
    }
  }
  return averages.finish();
}

}  // namespace profshim
