#include "event_checks.h"

#include <algorithm>
#include <iterator>

#include "analysis/model/event_args.h"
#include "gpu_checks.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

constexpr double kMaxTsUs = 8e12;  // a double of us cannot hold ns beyond this
constexpr std::int64_t kSecondNs = 1000000000;
constexpr std::int64_t kWeekNs = 7 * 86400 * kSecondNs;
constexpr std::int64_t kMaxDevice = 63;

bool is_known_category(std::string_view category) {
  constexpr std::string_view kKnown[] = {schema::category::kCpuOp,
                                         schema::category::kUserAnnotation,
                                         schema::category::kGpuUserAnnotation,
                                         schema::category::kGpuMemcpy,
                                         schema::category::kGpuMemset,
                                         schema::category::kKernel,
                                         schema::category::kCudaRuntime,
                                         schema::category::kCudaDriver,
                                         schema::category::kOverhead,
                                         schema::category::kCpuInstantEvent,
                                         schema::category::kPythonFunction,
                                         schema::category::kCudaSync,
                                         schema::category::kCudaEvent,
                                         schema::category::kTrace,
                                         schema::category::kAc2g,
                                         schema::category::kFwdBwd,
                                         schema::category::kRankFlow,
                                         schema::category::kPhase,
                                         schema::category::kGlowRuntime,
                                         schema::category::kHpuOp,
                                         schema::category::kCollectiveComm,
                                         schema::category::kHardwareCounters,
                                         schema::category::kCudaProfilerRange};
  if (std::find(std::begin(kKnown), std::end(kKnown), category) != std::end(kKnown)) return true;
  return category.starts_with(schema::category::kMtiaStart) || category.starts_with(schema::category::kXpuStart) ||
         category.starts_with(schema::category::kPrivateUseStart);
}

/// The TensorBoard plugin keeps trees of these by int(tid).
bool is_operator(const ReadEvent& event) {
  return event.category == schema::category::kCpuOp || event.category == schema::category::kUserAnnotation ||
         event.category == schema::category::kGpuUserAnnotation || event.category == schema::category::kOperator2021;
}

}  // namespace

void EventChecks::on_event(const ReadEvent& event) {
  fields(event);
  if (event.is(schema::phase::kSlice)) slice(event);
  if (event.is(schema::phase::kSlice) || event.is(schema::phase::kAsyncBegin) || event.is(schema::phase::kAsyncEnd))
    host_row(event);
  names(event);
  marks(event);
  if (event.category == schema::category::kFwdBwd && (!event.has_id || !event.has_ts)) {
    findings_.breaks(consumer::kTensorBoard, 43, "an event of category fwdbwd without id or ts", where_is(event));
  }
  if (event.has_name && find_arg(event, schema::arg::kExternalId) != nullptr && event.category.empty()) {
    findings_.must(9, "External id without cat", where_is(event));
  }
  if (!event.category.empty() && !is_known_category(event.category)) {
    findings_.must(11, "unknown category", std::string(event.category.substr(0, 40)) + " " + where_is(event));
  }
  if (first_ && (is_gpu_work(event.category) || is_api_call(event.category))) {
    findings_.should(27, "the first event is an API call or device activity: HTA takes index 0 for \"no link\"",
                     where_is(event));
  }
  first_ = false;
}

void EventChecks::finish() {
  for (const std::int64_t pid : pids_) {
    if (!named_pids_.contains(pid))
      findings_.should(35, "a process without process_name", "pid " + std::to_string(pid));
  }
  for (const auto& [pid, tid] : threads_) {
    if (!named_threads_.contains({pid, tid})) {
      findings_.should(35, "a thread without thread_name", "tid " + std::to_string(tid));
    }
  }
  window();
}

void EventChecks::fields(const ReadEvent& event) {
  constexpr std::string_view kPhases = "XMiCsfbe";
  if (event.phase.size() != 1 || kPhases.find(event.phase) == std::string_view::npos) {
    findings_.must(8, "ph is none of X M i C s f b e", where_is(event));
  }
  if (!event.has_name) findings_.breaks(consumer::kTensorBoard, 8, "no name", where_is(event));
  if (!event.has_pid || !event.has_tid) findings_.must(8, "no pid or no tid", where_is(event));
  if (!event.has_ts && event.is(schema::phase::kSlice)) {
    findings_.breaks(consumer::kPerfettoAndTensorBoard, 8, "X without ts", where_is(event));
  } else if (!event.has_ts) {
    findings_.must(8, "no ts", where_is(event));
  } else if (event.ts_us < 0) {
    findings_.must(8, "negative ts", where_is(event));
  } else if (event.ts_us >= kMaxTsUs) {
    findings_.must(10, "ts of 8e12 us or more: not relative to a base time", where_is(event));
  }
  if (event.finer_than_ns) findings_.must(10, "more than three decimals in ts or dur", where_is(event));
}

void EventChecks::slice(const ReadEvent& event) {
  if (event.category.empty()) findings_.breaks(consumer::kTensorBoard, 9, "X without cat", where_is(event));
  if (!event.has_duration) {
    findings_.breaks(consumer::kTensorBoard, 9, "X without dur", where_is(event));
    return;
  }
  if (!event.tid_is_number && is_operator(event)) {
    findings_.breaks(consumer::kTensorBoard, 17, "the tid of an operator is not a number", where_is(event));
  }
  if (event.duration_ns < 0) findings_.must(9, "negative dur", where_is(event));
  if (event.duration_ns > kWeekNs) findings_.should(39, "a slice is longer than a week", where_is(event));
  if (event.category != schema::category::kTrace) {
    first_begin_ = std::min(first_begin_, event.ts_ns);
    last_begin_ = std::max(last_begin_, event.ts_ns);
    last_end_ = std::max(last_end_, event.ts_ns + std::clamp<std::int64_t>(event.duration_ns, 0, kWeekNs));
    first_where_ = first_begin_ == event.ts_ns ? event.offset : first_where_;
    last_where_ = last_begin_ == event.ts_ns ? event.offset : last_where_;
  }
}

void EventChecks::host_row(const ReadEvent& event) {
  if (is_gpu_work(event.category) || event.category == schema::category::kTrace ||
      event.category == schema::category::kGpuUserAnnotation || event.category == schema::category::kCudaSync ||
      event.category == schema::category::kCudaEvent) {
    return;
  }
  if (event.category == schema::category::kOverhead) {
    if (event.pid_is_number && event.pid < 0) {
      findings_.should(37, "overhead on pid -1: drawn under GPU 0 by Perfetto", where_is(event));
    }
    return;
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const auto in_range = [](std::int64_t id) { return id > 0 && id <= kMax; };
  if (!event.pid_is_number || !event.tid_is_number || !in_range(event.pid) || !in_range(event.tid)) {
    findings_.must(17, "pid or tid of a host event is not in 1..2^32-1", where_is(event));
    return;
  }
  // Only "should": in containers, such pids are real.
  if (event.pid <= kMaxDevice) findings_.should(17, "a pid below 64 can be taken for a GPU's", where_is(event));
  pids_.insert(event.pid);
  threads_.insert({event.pid, event.tid});
}

void EventChecks::names(const ReadEvent& event) {
  if (!event.is(schema::phase::kMetadata) || !event.pid_is_number) return;
  if (event.name == schema::metadata::kProcessName) named_pids_.insert(event.pid);
  if (event.name == schema::metadata::kThreadName && event.tid_is_number) named_threads_.insert({event.pid, event.tid});
}

void EventChecks::marks(const ReadEvent& event) {
  last_is_end_mark_ = event.is(schema::phase::kInstant) && event.name == schema::name::kWindowEnd;
  if (last_is_end_mark_) end_mark_ns_ = event.ts_ns;
  iteration_mark_ = iteration_mark_ || event.name.starts_with(schema::name::kWindowStart);
  if (!event.is(schema::phase::kSlice) || event.category != schema::category::kTrace || !event.has_duration) return;
  span_ = true;
  span_begin_ = event.ts_ns;
  span_end_ = event.ts_ns + std::clamp<std::int64_t>(event.duration_ns, 0, kWeekNs);
}

void EventChecks::window() {
  if (!span_) findings_.should(36, "no slice of category Trace that covers the window");
  if (!iteration_mark_) findings_.should(36, "no 'Iteration Start' mark");
  if (!last_is_end_mark_) findings_.should(36, "the last element is not 'Record Window End'");
  if (last_is_end_mark_ && end_mark_ns_ < last_end_) {
    findings_.should(36, "'Record Window End' stands before the end of an event");
  }
  if (!span_ || first_begin_ > last_begin_) return;
  if (first_begin_ < span_begin_ || last_end_ > span_end_) {
    findings_.should(36, "the slice of category Trace does not cover all events");
  }
  if (first_begin_ < span_begin_ - kSecondNs) {
    findings_.must(38, "an event more than a second before the window", where_is(first_where_));
  }
  if (last_begin_ > span_end_ + kSecondNs) {
    findings_.must(38, "an event more than a second after the window", where_is(last_where_));
  }
}

}  // namespace profshim::analysis_detail
