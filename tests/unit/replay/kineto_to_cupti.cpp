#include "kineto_to_cupti.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>

#include "fakes/cupti/records.h"

namespace profshim::replay {
namespace {

namespace raw = fake::cupti;

// Fills unset fields and padding, which profshim must not read.
constexpr int kGarbage = 0xa5;

template <class Struct>
Struct blank(std::uint32_t kind) {
  Struct record;
  std::memset(static_cast<void*>(&record), kGarbage, sizeof record);
  record.kind = kind;
  return record;
}

template <class Struct>
Record packed(const Struct& record, std::int64_t end_ns) {
  static_assert(sizeof(Struct) <= sizeof(Record::bytes));
  Record out;
  out.kind = record.kind;
  out.end_ns = end_ns;
  std::memcpy(out.bytes.data(), &record, sizeof record);
  return out;
}

template <class Number, std::size_t N>
Number index_in(const char* const (&names)[N], const std::string& name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) throw std::runtime_error("no such kind: " + name);
  return static_cast<Number>(found - std::begin(names));
}

// The index is a CUpti_ActivityMemcpyKind, MemoryKind, SynchronizationType or OverheadKind. If the names
// came from device_names.cpp, the replay would not notice a wrong name.
constexpr const char* kCopyKinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                      "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr const char* kMemoryKinds[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr const char* kSyncKinds[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
constexpr const char* kOverheads[] = {"",
                                      "Buffer Flush",
                                      "Instrumentation",
                                      "Resource",
                                      "Runtime Triggered Module Loading",
                                      "Lazy Function Loading",
                                      "Command Buffer Full",
                                      "Activity Buffer Request"};

std::uint32_t u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

class Maker {
 public:
  Maker(const Trace& trace, const Recording& recording)
      : trace_(trace), recording_(recording), graphs_(graphs_by_correlation(trace)) {
    out_.first_ns = first_ns_of(trace);
  }

  Records all() {
    for (const Row& row : trace_.rows) {
      if (row.phase == 'X') add(row);
    }
    for (auto& [thread, calls] : out_.calls) {
      std::stable_sort(calls.begin(), calls.end(),
                       [](const Record& a, const Record& b) { return a.end_ns < b.end_ns; });
    }
    for (const Trace::Object& device : trace_.devices) add_device(device);
    return std::move(out_);
  }

 private:
  std::uint64_t tick(std::int64_t ns) const {
    return recording_.first_tick + static_cast<std::uint64_t>(ns - out_.first_ns);
  }

  void add(const Row& row) {
    if (row.is_call()) add_call(row);
    if (row.category == "kernel") add_kernel(row);
    if (row.category == "gpu_memcpy") add_copy(row);
    if (row.category == "gpu_memset") add_memset(row);
    if (row.category == "cuda_sync") add_sync(row);
    if (row.category == "overhead") add_overhead(row);
  }

  void add_call(const Row& row) {
    auto r = blank<raw::Api>(row.category == "cuda_driver" ? raw::kDriver : raw::kRuntime);
    r.callback_id = u32(row.number("cbid"));
    r.start = tick(row.begin_ns);
    r.end = tick(row.end_ns());
    r.process = 1;
    r.thread = recording_.threads.at(row.tid);
    r.correlation = u32(row.number("correlation"));
    r.result = 0;
    if (recording_.driver_inside) add_driver_call(row, r);
    Record record = packed(r, row.end_ns());
    record.callback_id = r.callback_id;
    out_.calls[row.tid].push_back(record);
  }

  /// A driver launch has the correlation id of the runtime call around it. Other driver calls have their own ids.
  void add_driver_call(const Row& row, raw::Api call) {
    constexpr std::uint32_t kCuLaunchKernel = 307, kCuEventRecord = 119, kOwnNumbers = 1 << 30;
    const bool is_launch = row.name.starts_with("cudaLaunchKernel");
    if (!is_launch && row.name != "cudaEventRecord") return;
    call.kind = raw::kDriver;
    call.callback_id = is_launch ? kCuLaunchKernel : kCuEventRecord;
    if (!is_launch) call.correlation += kOwnNumbers;
    call.start += (call.end - call.start) / 4;
    call.end -= (call.end - call.start) / 4;
    Record record = packed(call, row.end_ns());
    record.callback_id = call.callback_id;
    out_.calls[row.tid].push_back(record);
  }

  template <class Struct>
  Struct work(const Row& row, std::uint32_t kind) {
    auto r = blank<Struct>(kind);
    r.start = tick(row.begin_ns);
    r.end = tick(row.begin_ns + exact_duration_ns(row));
    r.device = u32(row.number("device"));
    r.context = u32(row.number("context"));
    r.stream = u32(row.number("stream"));
    r.correlation = u32(row.number("correlation"));
    const auto graph = graphs_.find(row.number("correlation"));
    r.graph = graph == graphs_.end() ? 0 : graph->second;
    r.graph_node = graph == graphs_.end() ? 0 : graph_node_of(row);
    r.channel = r.channel_type = 0;
    note_place(r.device, r.context, r.stream);
    return r;
  }

  void note_place(std::uint32_t device, std::uint32_t context, std::uint32_t stream) {
    if (contexts_.insert(context).second) {
      auto r = blank<raw::Context>(raw::kContext);
      r.context = context;
      r.device = device;
      out_.device.push_back(packed(r, out_.first_ns));
    }
    if (recording_.streams && streams_.insert({context, stream}).second) {
      auto r = blank<raw::Stream>(raw::kStream);
      r.context = context;
      r.stream = stream;
      r.priority = static_cast<std::uint32_t>(priority_of(stream));
      r.flag = 0;
      out_.events.push_back(packed(r, out_.first_ns));
    }
  }

  void add_kernel(const Row& row) {
    auto r = work<raw::Kernel>(row, raw::kConcurrentKernel);
    const std::vector<std::int64_t> grid = numbers_of(row.args.at("grid")), block = numbers_of(row.args.at("block"));
    for (std::size_t i = 0; i < 3; ++i) {
      r.grid[i] = static_cast<std::int32_t>(grid.at(i));
      r.block[i] = static_cast<std::int32_t>(block.at(i));
      r.cluster[i] = 0;
    }
    r.registers_per_thread = static_cast<std::uint16_t>(row.number("registers per thread"));
    // The trace has only the sum of static and dynamic shared memory.
    const auto shared = static_cast<std::int32_t>(row.number("shared memory"));
    r.static_shared = shared % 1024;
    r.dynamic_shared = shared - shared % 1024;
    r.queued = r.submitted = 0;
    r.name = out_.names.emplace_back(row.name).c_str();
    out_.device.push_back(packed(r, row.end_ns()));
  }

  void add_copy(const Row& row) {
    const std::size_t open = row.name.find(" ("), arrow = row.name.find(" -> ");
    auto r = work<raw::Memcpy>(row, raw::kMemcpy);
    r.copy_kind = index_in<std::uint8_t>(kCopyKinds, row.name.substr(7, open - 7));
    r.source = index_in<std::uint8_t>(kMemoryKinds, row.name.substr(open + 2, arrow - open - 2));
    r.target = index_in<std::uint8_t>(kMemoryKinds, row.name.substr(arrow + 4, row.name.size() - arrow - 5));
    r.flags = 0;
    r.bytes = static_cast<std::uint64_t>(row.number("bytes"));
    out_.device.push_back(packed(r, row.end_ns()));
  }

  void add_memset(const Row& row) {
    auto r = work<raw::Memset>(row, raw::kMemset);
    r.value = 0;
    r.flags = 0;
    r.memory_kind = index_in<std::uint16_t>(kMemoryKinds, row.name.substr(8, row.name.size() - 9));
    r.bytes = static_cast<std::uint64_t>(row.number("bytes"));
    out_.device.push_back(packed(r, row.end_ns()));
  }

  void add_sync(const Row& row) {
    auto r = blank<raw::Synchronization>(raw::kSynchronization);
    r.type = index_in<std::uint32_t>(kSyncKinds, row.name);
    r.start = tick(row.begin_ns);
    r.end = tick(row.end_ns());
    r.correlation = u32(row.number("correlation"));
    r.context = u32(row.number("context"));
    r.stream = u32(row.number("stream"));
    r.event = u32(row.number_or("wait_on_cuda_event_id", -1));
    if (row.number_or("wait_on_cuda_event_record_corr_id", -1) > 0) add_event_record(row);
    out_.waits.push_back(packed(r, row.end_ns()));
  }

  void add_event_record(const Row& wait) {
    auto r = blank<raw::CudaEvent>(raw::kCudaEvent);
    r.correlation = u32(wait.number("wait_on_cuda_event_record_corr_id"));
    if (!event_records_.insert(r.correlation).second) return;
    r.context = u32(wait.number("context"));
    r.stream = u32(wait.number("wait_on_stream"));
    r.event = u32(wait.number("wait_on_cuda_event_id"));
    r.device = u32(wait.number("device"));
    out_.events.push_back(packed(r, wait.begin_ns));
  }

  void add_overhead(const Row& row) {
    auto r = blank<raw::Overhead>(raw::kOverhead);
    r.overhead_kind = index_in<std::uint32_t>(kOverheads, row.name) << 16;
    r.start = tick(row.begin_ns);
    r.end = tick(row.end_ns());
    out_.device.push_back(packed(r, row.end_ns()));
  }

  void add_device(const Trace::Object& properties) {
    std::map<std::string, std::string> of(properties.begin(), properties.end());
    const auto number = [&of](const char* key) { return u32(std::stoll(of.at(key))); };
    auto r = blank<raw::Device>(raw::kDevice);
    r.id = number("id");
    const std::string& quoted = of.at("name");
    r.name = out_.names.emplace_back(quoted.substr(1, quoted.size() - 2)).c_str();
    r.memory_bytes = std::stoull(of.at("totalGlobalMem"));
    r.major = number("computeMajor");
    r.minor = number("computeMinor");
    r.threads_per_block = number("maxThreadsPerBlock");
    r.warp = number("warpSize");
    r.warps_per_sm = number("maxThreadsPerMultiprocessor") / r.warp;
    r.registers_per_block = number("regsPerBlock");
    r.registers_per_sm = number("regsPerMultiprocessor");
    r.shared_per_block = number("sharedMemPerBlock");
    r.shared_per_sm = number("sharedMemPerMultiprocessor");
    r.multiprocessors = number("numSms");
    std::memset(r.uuid, static_cast<int>(0x10 + r.id), sizeof r.uuid);
    r.mig = 0;
    out_.device.push_back(packed(r, out_.first_ns));
  }

  const Trace& trace_;
  const Recording& recording_;
  const std::map<std::int64_t, std::uint32_t> graphs_;
  Records out_;
  std::set<std::uint32_t> contexts_, event_records_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> streams_;
};

}  // namespace

Records cupti_records(const Trace& trace, const Recording& recording) { return Maker(trace, recording).all(); }

std::int64_t first_ns_of(const Trace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Row& row : trace.rows) {
    const bool ours = row.is_call() || row.is_work() || row.category == "cuda_sync" || row.category == "overhead";
    if (ours) first = std::min(first, row.begin_ns);
  }
  return first;
}

std::int64_t exact_duration_ns(const Row& work) {
  const auto bandwidth = work.args.find("memory bandwidth (GB/s)");
  if (bandwidth == work.args.end() || work.duration_ns % 1000 != 0) return work.duration_ns;
  const double exact = static_cast<double>(work.number("bytes")) / std::stod(bandwidth->second);
  return static_cast<std::int64_t>(exact + 0.5);
}

std::map<std::int64_t, std::uint32_t> graphs_by_correlation(const Trace& trace) {
  std::map<std::int64_t, std::string> nodes;
  for (const Row& row : trace.rows) {
    if (row.name == "cudaGraphLaunch") nodes[row.number("correlation")];
  }
  for (const Row& row : trace.rows) {
    if (!row.is_work()) continue;
    if (const auto graph = nodes.find(row.number("correlation")); graph != nodes.end())
      graph->second += row.name + '\n';
  }
  std::map<std::string, std::uint32_t> numbers;
  std::map<std::int64_t, std::uint32_t> graphs;
  for (const auto& [correlation, names] : nodes) {
    graphs[correlation] = numbers.try_emplace(names, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
  }
  return graphs;
}

std::uint64_t graph_node_of(const Row& work) {
  // CUDA's graph node numbers exceed 32 bits.
  return std::uint64_t{1} << 40 | (static_cast<std::uint64_t>(work.begin_ns) & 0xffffffff);
}

}  // namespace profshim::replay
