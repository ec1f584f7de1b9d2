#include "gpu_checks.h"

#include <algorithm>

#include "analysis/model/event_args.h"
#include "profshim/trace/schema.h"
#include "track_checks.h"

namespace profshim::analysis_detail {
namespace {

using Kind = ReadEvent::ReadArg::Kind;

constexpr std::int64_t kMaxDevice = 63;

constexpr auto by_link = [](const auto& a, const auto& b) { return a.link < b.link; };

template <class Rows>
auto rows_with(const Rows& sorted, std::int64_t link) {
  typename Rows::value_type probe{};
  probe.link = link;
  return std::equal_range(sorted.begin(), sorted.end(), probe, by_link);
}

bool is_list_of(const ReadEvent& event, std::string_view key, std::ptrdiff_t size) {
  const ReadEvent::ReadArg* const arg = find_arg(event, key);
  return arg != nullptr && arg->kind == Kind::kJson && arg->text.starts_with('[') &&
         std::count(arg->text.begin(), arg->text.end(), ',') == size - 1;
}

// CUPTI adds suffixes such as _v7000 or _ptsz. The _v2 of cudaStreamGetCaptureInfo_v2 belongs to the name.
bool has_version_suffix(std::string_view name) {
  if (name.ends_with("_ptsz") || name.ends_with("_ptds")) return true;
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at - 2 < 4) return false;
  return name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
}

// NCCL's names: ncclDevKernel_AllReduce_..., formerly ncclKernel_ or ncclAllReduceRingLLKernel_; for symmetric memory
// ncclSymDevKernel_ or ncclSymkDevKernel_; with one rank oneRankReduce<...>.
bool is_kernel_of_nccl(std::string_view name) {
  if (name.find("oneRankReduce<") != std::string_view::npos) return true;
  return name.starts_with(schema::name::kNcclStart) && name.substr(0, name.find_first_of("_(<")).ends_with("Kernel");
}

// Accepts "HtoD", "PtoP" and the like: host, device, array, peer.
bool is_copy_kind(std::string_view text) {
  constexpr std::string_view kEnds = "HDAP";
  return text.size() >= 4 && kEnds.find(text[0]) != std::string_view::npos && text.substr(1, 2) == "to" &&
         kEnds.find(text[3]) != std::string_view::npos;
}

}  // namespace

bool is_gpu_work(std::string_view category) {
  return category == schema::category::kKernel || category == schema::category::kGpuMemcpy ||
         category == schema::category::kGpuMemset;
}

bool is_api_call(std::string_view category) {
  return category == schema::category::kCudaRuntime || category == schema::category::kCudaDriver;
}

void GpuChecks::on_event(const ReadEvent& event, bool merged) {
  if (event.is(schema::phase::kFlowStart) || event.is(schema::phase::kFlowEnd)) return on_flow(event);
  if (!event.is(schema::phase::kSlice)) return;
  if (is_gpu_work(event.category)) return on_gpu_work(event, merged);
  if (is_api_call(event.category)) return on_api_call(event);
  if (event.category == schema::category::kCudaSync) return on_sync(event);
  on_host(event);
}

void GpuChecks::on_flow(const ReadEvent& event) {
  if (event.category != schema::category::kAc2g) return;
  if (event.name != schema::category::kAc2g)
    findings_.must(22, "an ac2g flow has a name other than ac2g", where_is(event));
  if (event.is(schema::phase::kFlowEnd) && event.binding_point != schema::kBindEnclosing) {
    findings_.must(22,
                   "the end of an ac2g flow lacks bp = e: readers bind it to the next slice, not to the enclosing one",
                   where_is(event));
  }
  auto& rows = event.is(schema::phase::kFlowStart) ? flow_starts_ : flow_ends_;
  rows.push_back({.link = event.id, .ts_ns = event.ts_ns, .track = track_of(event), .offset = event.offset});
}

void GpuChecks::on_gpu_work(const ReadEvent& event, bool merged) {
  const std::int64_t device = integer_arg(event, schema::arg::kDevice, integer_arg(event, schema::arg::kInDevice, -1));
  const std::int64_t stream = integer_arg(event, schema::arg::kStream, -1),
                     correlation = integer_arg(event, schema::arg::kCorrelation, -1);
  constexpr std::int64_t kRanksApart = 1000;
  const std::int64_t pid = merged ? event.pid % kRanksApart : event.pid;
  if (device < 0 || device > kMaxDevice || !event.pid_is_number || pid != device) {
    findings_.must(12, "GPU work whose pid is not args.device (0..63)", where_is(event));
  }
  constexpr std::int64_t kContextsApart = 100'000'000;  // tids of contexts with equal stream numbers are this far apart
  if (stream <= 0 || !event.tid_is_number || (event.tid % kContextsApart != stream && !merged)) {
    findings_.must(12, "GPU work whose tid is not args.stream (> 0)", where_is(event));
  }
  if (correlation <= 0) findings_.must(12, "GPU work without correlation > 0", where_is(event));
  if (event.duration_ns < 1) findings_.should(39, "GPU work shorter than 1 ns", where_is(event));
  if (event.ts_ns == 0) findings_.must(38, "GPU work at time 0", where_is(event));
  gpu_.push_back({.link = correlation, .ts_ns = event.ts_ns, .track = track_of(event), .offset = event.offset});
  if (event.category == schema::category::kKernel) {
    on_kernel(event);
  } else {
    on_copy(event);
  }
}

void GpuChecks::on_kernel(const ReadEvent& event) {
  constexpr std::string_view kKeys[] = {schema::arg::kDevice,       schema::arg::kContext,     schema::arg::kStream,
                                        schema::arg::kCorrelation,  schema::arg::kQueued,      schema::arg::kRegisters,
                                        schema::arg::kSharedMemory, schema::arg::kBlocksPerSm, schema::arg::kWarpsPerSm,
                                        schema::arg::kOccupancy};
  bool complete = is_list_of(event, schema::arg::kGrid, 3) && is_list_of(event, schema::arg::kBlock, 3);
  for (const std::string_view key : kKeys) complete = complete && find_arg(event, key) != nullptr;
  if (!complete) findings_.must(13, "a kernel lacks arguments that torch_tb_profiler reads", where_is(event));

  // The plugin keeps 64 lists of kernels. A kernel without a device is in none.
  if (integer_arg(event, schema::arg::kDevice, -1) > kMaxDevice) {
    findings_.breaks(consumer::kTensorBoard, 12, "a kernel whose args.device is above 63", where_is(event));
  }
  const std::int64_t op = integer_arg(event, schema::arg::kExternalId, -1);
  if (op >= 0) kernel_ops_.push_back({.link = op, .offset = event.offset});

  if (event.name.starts_with(schema::name::kNcclStart) && !is_kernel_of_nccl(event.name)) {
    findings_.must(28, "a kernel name starts with nccl, but NCCL has no such kernel", where_is(event));
  }
  constexpr std::string_view kCollective[] = {schema::arg::kCollective, schema::arg::kInElements,
                                              schema::arg::kOutElements, schema::arg::kGroupSize, schema::arg::kDtype};
  const auto present = std::count_if(std::begin(kCollective), std::end(kCollective),
                                     [&](std::string_view key) { return find_arg(event, key) != nullptr; });
  if (present == 5) collectives_.push_back({op, integer_arg(event, schema::arg::kCorrelation, -1), event.offset});
  if (present != 0 && present != 5)
    findings_.must(29, "only some of Collective name, dtype, In msg nelems, Out msg nelems and Group size",
                   where_is(event));
  for (const std::string_view key : {schema::arg::kInElements, schema::arg::kOutElements, schema::arg::kGroupSize}) {
    const ReadEvent::ReadArg* const arg = find_arg(event, key);
    if (arg != nullptr && arg->kind != Kind::kInt)
      findings_.must(29, "In msg nelems, Out msg nelems or Group size is not an integer", where_is(event));
  }
  for (const std::string_view key :
       {schema::arg::kGroupName, schema::arg::kGroupRanks, schema::arg::kInSplit, schema::arg::kOutSplit}) {
    const ReadEvent::ReadArg* const arg = find_arg(event, key);
    if (arg != nullptr && arg->kind != Kind::kString) {
      findings_.must(29, "Process Group Name, Process Group Ranks, In split size or Out split size is not a string",
                     where_is(event));
    }
  }
}

void GpuChecks::on_copy(const ReadEvent& event) {
  if (find_arg(event, schema::arg::kBytes) == nullptr) findings_.must(14, "a copy without bytes", where_is(event));
  if (event.duration_ns > 0 && find_arg(event, schema::arg::kBandwidth) == nullptr) {
    findings_.must(14, "a copy without memory bandwidth (GB/s)", where_is(event));
  }
  const std::string_view start =
      event.category == schema::category::kGpuMemcpy ? schema::name::kMemcpyStart : schema::name::kMemsetStart;
  if (!event.name.starts_with(start)) {
    findings_.must(14, "a copy is not named Memcpy..., or a memset Memset...", where_is(event));
  } else if (event.category == schema::category::kGpuMemcpy && !is_copy_kind(event.name.substr(start.size()))) {
    findings_.must(14, "the name of a copy does not say from where to where", where_is(event));
  }
}

void GpuChecks::on_api_call(const ReadEvent& event) {
  // Calls with "seen by" are recorded without CUPTI: a correlation id could link to other activity.
  if (find_arg(event, schema::arg::kSeenBy) != nullptr) {
    if (find_arg(event, schema::arg::kCorrelation) != nullptr) {
      findings_.must(15, "an API call with \"seen by\" has a correlation", where_is(event));
    }
    if (find_arg(event, schema::arg::kStream) != nullptr)
      findings_.must(15, "an API call with a stream", where_is(event));
    return;
  }
  const std::int64_t correlation = integer_arg(event, schema::arg::kCorrelation, -1);
  if (correlation <= 0) findings_.must(15, "an API call without correlation > 0", where_is(event));
  if (find_arg(event, schema::arg::kCallbackId) == nullptr)
    findings_.must(15, "an API call without cbid", where_is(event));
  if (integer_arg(event, schema::arg::kStream, -1) >= 0)
    findings_.must(15, "an API call with a stream", where_is(event));
  if (event.name.starts_with("__")) findings_.must(20, "an API name with CUPTI's prefix (__)", where_is(event));
  if (has_version_suffix(event.name))
    findings_.must(20, "an API name with CUPTI's version suffix (_v7000, _ptsz)", where_is(event));
  api_.push_back(
      {.link = correlation,
       .ts_ns = event.ts_ns,
       .track = track_of(event),
       .offset = event.offset,
       .launches_graph = event.name.starts_with("cudaGraphLaunch") || event.name.starts_with("cuGraphLaunch"),
       .records_event = event.name.starts_with("cudaEventRecord")});
}

void GpuChecks::on_sync(const ReadEvent& event) {
  for (const std::string_view key : {schema::arg::kSyncKind, schema::arg::kStream, schema::arg::kCorrelation,
                                     schema::arg::kDevice, schema::arg::kContext}) {
    if (find_arg(event, key) == nullptr) {
      findings_.should(33, "a cuda_sync lacks arguments that HTA's critical path reads", where_is(event));
      break;
    }
  }
  const bool waits_for_event = event.name == schema::name::kEventSync || event.name == schema::name::kStreamWaitEvent;
  for (const std::string_view key :
       {schema::arg::kWaitOnStream, schema::arg::kWaitOnRecord, schema::arg::kWaitOnEvent}) {
    if (waits_for_event && find_arg(event, key) == nullptr) {
      findings_.should(33, "a wait for a CUDA event lacks an argument wait_on_...", where_is(event));
      break;
    }
  }
  if ((event.name == schema::name::kEventSync || event.name == schema::name::kContextSync) &&
      integer_arg(event, schema::arg::kStream, -1) != -1) {
    findings_.should(33, "a wait of the host for an event or a context names a stream (-1 is expected)",
                     where_is(event));
  }
  const std::int64_t waits_on = integer_arg(event, schema::arg::kWaitOnRecord, -1);
  if (waits_on > 0) waits_.push_back({.link = waits_on, .offset = event.offset});
}

void GpuChecks::on_host(const ReadEvent& event) {
  std::int64_t end_ns = 0;
  if (__builtin_add_overflow(event.ts_ns, event.duration_ns, &end_ns)) end_ns = event.ts_ns;
  if (event.name == "ncclGroupEnd") group_ends_.push_back({0, event.ts_ns, end_ns, track_of(event)});
  if (event.category.starts_with(schema::category::kGpuStart) || event.category == schema::category::kCudaEvent) return;
  if (integer_arg(event, schema::arg::kStream, -1) >= 0 && integer_arg(event, schema::arg::kCorrelation, -1) >= 0) {
    findings_.must(16, "a CPU event with stream and correlation: HTA takes it for GPU work", where_is(event));
  }
  const std::int64_t op = integer_arg(event, schema::arg::kExternalId, -1);
  if (op < 0 || (event.category != schema::category::kCpuOp && event.category != schema::category::kUserAnnotation))
    return;
  if (event.name == schema::name::kCommunication) {
    operations_.push_back({op, event.ts_ns, end_ns, track_of(event)});
  }
  // In ops_, `track` holds the category: 1 = cpu_op, whose External id must be unique; 0 = user_annotation.
  ops_.push_back({.link = op, .track = event.category == schema::category::kCpuOp, .offset = event.offset});
}

void GpuChecks::check_launches() {
  for (std::size_t i = 1; i < api_.size(); ++i) {
    if (api_[i].link > 0 && api_[i].link == api_[i - 1].link) {
      findings_.must(19, "two API calls with one correlation", where_is(api_[i].offset));
    }
  }
  std::int64_t previous = -1;
  for (const Row& work : gpu_) {
    const auto [first, last] = rows_with(api_, work.link);
    if (first == last) {
      findings_.should(18, "GPU work without the call that launched it", where_is(work.offset));
    } else {
      if (work.ts_ns < first->ts_ns) findings_.should(21, "GPU work before its launch", where_is(work.offset));
      if (work.link == previous && !first->launches_graph) {
        findings_.must(19, "several GPU rows of one call that is no cudaGraphLaunch", where_is(work.offset));
      }
    }
    previous = work.link;
  }
}

void GpuChecks::check_flows() {
  for (std::size_t i = 1; i < flow_starts_.size(); ++i) {
    if (flow_starts_[i].link == flow_starts_[i - 1].link) {
      findings_.must(22, "two ac2g flows start with one id", where_is(flow_starts_[i].offset));
    }
  }
  for (const Row& end : flow_ends_) {
    const auto [first, last] = rows_with(flow_starts_, end.link);
    if (first == last) findings_.must(22, "an ac2g flow ends that never starts", where_is(end.offset));
  }
  const auto meets = [](const std::vector<Row>& rows, const Row& row) {
    const auto [first, last] = rows_with(rows, row.link);
    return std::any_of(first, last, [&](const Row& r) {
      return r.track == row.track && r.ts_ns == row.ts_ns && r.offset > row.offset;  // the flow comes after its slice
    });
  };
  for (const Row& work : gpu_) {
    const auto [first, last] = rows_with(api_, work.link);
    if (first == last) continue;
    if (!meets(flow_starts_, *first)) findings_.must(22, "no ac2g flow starts at a launch", where_is(first->offset));
    if (!meets(flow_ends_, work)) findings_.must(22, "no ac2g flow ends at device activity", where_is(work.offset));
  }
}

void GpuChecks::check_external_ids() {
  const Row* previous = nullptr;
  for (const Row& op : ops_) {
    if (op.track == 0) continue;
    if (previous != nullptr && previous->link == op.link) {
      findings_.must(32, "two cpu_op with one External id", where_is(op.offset));
    }
    previous = &op;
  }
  for (const Row& kernel : kernel_ops_) {
    const auto [first, last] = rows_with(ops_, kernel.link);
    if (first == last) findings_.must(32, "a kernel with an External id that no op has", where_is(kernel.offset));
  }
}

void GpuChecks::check_waits() {
  for (const Row& wait : waits_) {
    const auto [first, last] = rows_with(api_, wait.link);
    if (std::none_of(first, last, [](const Row& call) { return call.records_event; })) {
      findings_.should(34, "a wait on an event whose cudaEventRecord is not in the trace", where_is(wait.offset));
    }
  }
}

// ncclGroupEnd launches the operations called since ncclGroupStart.
bool GpuChecks::in_group_end_behind(const Operation& operation, const Row& call) const {
  const auto behind =
      std::upper_bound(group_ends_.begin(), group_ends_.end(), call, [](const Row& row, const Operation& end) {
        return row.track != end.track ? row.track < end.track : row.ts_ns < end.begin_ns;
      });
  if (behind == group_ends_.begin()) return false;
  const Operation& end = *std::prev(behind);
  return end.track == operation.track && end.track == call.track && end.begin_ns >= operation.end_ns &&
         call.ts_ns <= end.end_ns;
}

void GpuChecks::check_collectives() {
  std::stable_sort(operations_.begin(), operations_.end(), by_link);
  std::sort(group_ends_.begin(), group_ends_.end(), [](const Operation& a, const Operation& b) {
    return a.track != b.track ? a.track < b.track : a.begin_ns < b.begin_ns;
  });
  for (const Collective& kernel : collectives_) {
    const auto [first, last] = rows_with(operations_, kernel.operation);
    if (kernel.operation < 0 || first == last) {
      findings_.should(31, "a collective's kernel without its record_param_comms", where_is(kernel.offset));
      continue;
    }
    const auto [call, calls_end] = rows_with(api_, kernel.correlation);
    const bool outside = call != calls_end &&
                         (call->track != first->track || call->ts_ns < first->begin_ns || call->ts_ns > first->end_ns);
    if (outside && !in_group_end_behind(*first, *call))
      findings_.should(31, "a collective was launched outside its record_param_comms", where_is(kernel.offset));
  }
}

void GpuChecks::finish() {
  for (auto* rows : {&gpu_, &api_, &flow_starts_, &flow_ends_, &ops_}) {
    std::stable_sort(rows->begin(), rows->end(), by_link);
  }
  check_launches();
  check_flows();
  check_external_ids();
  check_waits();
  check_collectives();
}

}  // namespace profshim::analysis_detail
