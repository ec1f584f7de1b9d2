#include "expected.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "kineto_to_cupti.h"

namespace profshim::replay {
namespace {

constexpr const char* kOccupancy = "est. achieved occupancy %";

bool is_one_of(const std::string& text, const std::set<std::string>& all) { return all.count(text) != 0; }

const std::set<std::string> kNotFromCupti = {
    "cpu_op", "user_annotation", "python_function", "gpu_user_annotation", "fwdbwd", "Trace"};

// profshim does not record these queries. INVALID is an old CUPTI's name for cudaStreamGetCaptureInfo_v2.
const std::set<std::string> kUnrecordedCalls = {"INVALID",
                                                "cudaDeviceGetAttribute",
                                                "cudaDeviceGetStreamPriorityRange",
                                                "cudaDriverGetVersion",
                                                "cudaEventElapsedTime",
                                                "cudaEventQuery",
                                                "cudaFuncSetAttribute",
                                                "cudaGetFuncBySymbol",
                                                "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                                                "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                                                "cudaPeekAtLastError",
                                                "cudaStreamGetCaptureInfo_v2",
                                                "cudaStreamGetPriority",
                                                "cudaStreamIsCapturing"};

constexpr const char* kLaunch[] = {"cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch"};
constexpr const char* kCopy[] = {"cudaMemcpyAsync", "cudaMemsetAsync"};

const std::set<std::string> kCollectiveArgs = {"Collective name",
                                               "In msg nelems",
                                               "Out msg nelems",
                                               "Group size",
                                               "dtype",
                                               "In split size",
                                               "Out split size",
                                               "Process Group Name",
                                               "Process Group Description",
                                               "Process Group Ranks"};

/// Assumes 64 warps, 32 blocks and 64 Ki registers per multiprocessor (compute capability 8.0 and 10.0).
std::int64_t occupancy_with_opt_in(const Row& kernel, std::int64_t shared_per_sm) {
  const std::vector<std::int64_t> block = numbers_of(kernel.args.at("block"));
  const std::int64_t threads = block[0] * block[1] * block[2], warps = (threads + 31) / 32;
  const std::int64_t registers_of_warp = (kernel.number("registers per thread") * 32 + 255) / 256 * 256;
  const std::int64_t by_registers = 65536 / 4 / registers_of_warp * 4 / warps;
  const std::int64_t shared = (kernel.number("shared memory") + 1024 + 127) / 128 * 128;
  const std::int64_t fit = std::min({std::int64_t{32}, 64 / warps, by_registers, shared_per_sm / shared});
  const double blocks = std::min(static_cast<double>(fit), std::stod(kernel.args.at("blocks per SM")));
  return std::llround(100 * blocks * static_cast<double>(threads) / 2048);
}

std::string six_decimals(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", value);
  std::string number = text;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

class Expecting {
 public:
  Expecting(const Trace& original, const Replayed& replayed, bool streams)
      : original_(original),
        tids_(replayed.tids),
        window_end_ns_(replayed.window_end_ns),
        streams_(streams),
        graphs_(graphs_by_correlation(original)) {
    for (const Row& row : original.rows) {
      if (row.is_call()) {
        const std::int64_t correlation = row.number("correlation");
        pid_ = row.pid;
        calls_.insert(correlation);
        if (row.begin_ns >= window_end_ns_) later_calls_.insert(correlation);
        if (!is_one_of(row.name, kUnrecordedCalls) && (first_call_ == 0 || correlation < first_call_)) {
          first_call_ = correlation;
        }
      }
      if (row.is_work()) work_.insert(row.number("correlation"));
      if (row.category == "cuda_sync") {
        (row.name == "Event Sync" ? event_syncs_ : syncs_).insert(row.number("correlation"));
      }
    }
    for (const Trace::Object& device : original.devices) devices_.emplace_back(device.begin(), device.end());
  }

  Expectation all() {
    for (const Row& row : original_.rows) {
      if (row.is_work()) note_stream(row);
    }
    for (const Row& row : original_.rows) {
      if (row.name == "Stream Wait Event") note_wait(row);
    }
    for (const Row& row : original_.rows) {
      if (row.phase == 'M')
        add_name(row);
      else if (is_after_window(row))
        applied(Rule::kAfterWindow);
      else if (is_one_of(row.category, kNotFromCupti) || row.phase == 'i')
        applied(Rule::kNotFromCupti);
      else if (row.is_call())
        add_call(row);
      else if (row.is_work())
        add_work(row);
      else if (row.category == "ac2g")
        add_flow(row);
      else if (row.category == "cuda_sync")
        add_sync(row);
      else if (row.category == "overhead")
        add_overhead(row);
      else
        out_.rows.push_back(row);
    }
    out_.devices = original_.devices;
    for (Trace::Object& device : out_.devices) add_uuid(device);
    return std::move(out_);
  }

 private:
  void applied(Rule rule) { ++out_.rules[rule]; }

  // In the replayed records, each byte of a uuid is 0x10 plus the device's number.
  void add_uuid(Trace::Object& device) {
    const std::string id = std::map<std::string, std::string>(device.begin(), device.end()).at("id"), byte = "1" + id;
    std::string text = "\"GPU";
    for (const int bytes : {4, 2, 2, 2, 6}) {
      text += '-';
      for (int i = 0; i < bytes; ++i) text += byte;
    }
    device.emplace_back("uuid", text + '"');
    applied(Rule::kDeviceUuid);
  }

  void drop_external_id(Row& row) {
    if (row.args.erase("External id") != 0) applied(Rule::kExternalId);
  }

  bool launched_before(std::int64_t correlation) const {
    return calls_.count(correlation) == 0 && correlation < first_call_;
  }

  bool is_after_window(const Row& row) const {
    if (row.category == "overhead") return row.begin_ns >= window_end_ns_;
    if (row.category == "ac2g") return later_calls_.count(row.id) + unshown_waits_.count(row.id) != 0;
    if (row.category == "cuda_sync" && unshown_waits_.count(row.number("correlation")) != 0) return true;
    const bool has_call = row.is_call() || row.is_work() || row.category == "cuda_sync";
    return has_call && later_calls_.count(row.number("correlation")) != 0;
  }

  /// profshim and Kineto show a Stream Wait Event only on streams with device activity.
  void note_wait(const Row& wait) {
    if (streams_with_work_.count({wait.pid, wait.tid}) == 0) unshown_waits_.insert(wait.number("correlation"));
  }

  void note_stream(const Row& work) {
    const std::int64_t correlation = work.number("correlation");
    if (launched_before(correlation) || later_calls_.count(correlation) != 0) return;
    streams_with_work_.insert({work.pid, work.tid});
    devices_with_work_.insert(work.pid);
  }

  /// Kineto also names unused devices, and tracks that profshim places elsewhere.
  void add_name(const Row& row) {
    out_.has_names = true;
    const bool is_stream = row.name == "thread_name" && streams_with_work_.count({row.pid, row.tid}) != 0;
    const bool is_device =
        (row.name == "process_name" || row.name == "process_labels") && devices_with_work_.count(row.pid) != 0;
    if (!is_stream && !is_device) return;
    Row expected = row;
    expected.begin_ns = 0;
    if (std::string& text = expected.args.begin()->second; is_stream && text.ends_with(" \"")) {
      text.erase(text.size() - 2, 1);
      applied(Rule::kStreamName);
    }
    out_.rows.push_back(expected);
  }

  void add_call(const Row& row) {
    if (is_one_of(row.name, kUnrecordedCalls)) return applied(Rule::kUnrecordedCall);
    Row expected = row;
    expected.tid = tids_.at(row.tid);
    drop_external_id(expected);
    const auto begins_with = [&row](const char* name) { return row.name.starts_with(name); };
    const bool has_work = work_.count(row.number("correlation")) != 0;
    if (!has_work && std::any_of(std::begin(kLaunch), std::end(kLaunch), begins_with)) ++out_.launches_without_work;
    if (!has_work && std::any_of(std::begin(kCopy), std::end(kCopy), begins_with)) ++out_.copies_without_work;
    out_.rows.push_back(expected);
  }

  void add_work(const Row& row) {
    const std::int64_t correlation = row.number("correlation");
    if (launched_before(correlation)) return applied(Rule::kLaunchedBefore);
    Row expected = row;
    drop_external_id(expected);
    if (row.name.starts_with("nccl") && row.args.count("Collective name") != 0) {
      for (const std::string& key : kCollectiveArgs) expected.args.erase(key);
      applied(Rule::kCollectiveArgs);
    }
    if (row.category == "kernel") correct_kernel(expected);
    if (const auto graph = graphs_.find(correlation); graph != graphs_.end()) {
      expected.args["graph id"] = std::to_string(graph->second);
      expected.args["graph node id"] = std::to_string(graph_node_of(row));
      applied(Rule::kGraphIds);
    }
    out_.rows.push_back(expected);
  }

  void correct_kernel(Row& kernel) {
    const auto& device = devices_.at(static_cast<std::size_t>(kernel.number("device")));
    correct_quotients(kernel, std::stoll(device.at("numSms")));
    if (kernel.number("shared memory") > std::stoll(device.at("sharedMemPerBlock")) && kernel.number(kOccupancy) == 0) {
      const std::int64_t shared_per_sm = std::stoll(device.at("sharedMemPerMultiprocessor"));
      kernel.args[kOccupancy] = std::to_string(occupancy_with_opt_in(kernel, shared_per_sm));
      applied(Rule::kSharedMemoryOptIn);
    }
    if (streams_) {
      kernel.args["priority"] = std::to_string(priority_of(kernel.number("stream")));
      applied(Rule::kStreamPriority);
    }
  }

  void correct_quotients(Row& kernel, std::int64_t sms) {
    const std::vector<std::int64_t> grid = numbers_of(kernel.args.at("grid")),
                                    block = numbers_of(kernel.args.at("block"));
    const std::int64_t blocks = grid[0] * grid[1] * grid[2], threads = block[0] * block[1] * block[2];
    const float blocks_per_sm = static_cast<float>(blocks) / static_cast<float>(sms);
    const double exact = static_cast<double>(blocks) / static_cast<double>(sms);
    correct(kernel.args.at("blocks per SM"), blocks_per_sm, exact);
    correct(kernel.args.at("warps per SM"), blocks_per_sm * static_cast<float>(threads) / 32,
            exact * static_cast<double>(threads) / 32);
  }

  void correct(std::string& text, float single, double exact) {
    // In 2023 Kineto wrote all digits. Later versions write six decimals.
    if (text != six_decimals(static_cast<double>(single)) && std::strtof(text.c_str(), nullptr) != single) return;
    const std::string better = six_decimals(exact);
    if (text != better) applied(Rule::kSinglePrecision);
    text = better;
  }

  void add_flow(const Row& row) {
    const bool at_call = row.pid == pid_;
    if (row.phase == 'f' && at_call) return applied(Rule::kFlowEndAtCall);
    if (event_syncs_.count(row.id) != 0) return applied(Rule::kFlowEndAtEventSync);
    const bool has_sync = syncs_.count(row.id) != 0;
    if (work_.count(row.id) == 0 && !has_sync) return applied(Rule::kFlowWithoutWork);
    if (launched_before(row.id)) return applied(Rule::kLaunchedBefore);
    Row expected = row;
    if (at_call) expected.tid = tids_.at(row.tid);
    if (!at_call && has_sync) expected.tid = sync_line(row.tid);
    out_.rows.push_back(expected);
  }

  static std::string sync_line(const std::string& tid) {
    constexpr std::int64_t kSyncLine = 1'000'000;  // Kineto adds this to the tid of stream waits since 2026-04
    return std::to_string(std::stoll(tid) + kSyncLine);
  }

  void add_sync(const Row& row) {
    Row expected = row;
    expected.tid = sync_line(row.tid);
    drop_external_id(expected);
    applied(Rule::kSyncLine);
    out_.rows.push_back(expected);
  }

  // Perfetto draws Kineto's pid -1 into GPU 0. Therefore profshim writes the job's pid.
  void add_overhead(const Row& row) {
    Row expected = row;
    expected.pid = pid_;
    expected.tid = "4000000000";
    applied(Rule::kOverheadLine);
    out_.rows.push_back(expected);
  }

  const Trace& original_;
  const std::map<std::string, std::string>& tids_;
  const std::int64_t window_end_ns_;
  const bool streams_;
  const std::map<std::int64_t, std::uint32_t> graphs_;
  std::string pid_;
  std::set<std::int64_t> calls_, later_calls_, work_, syncs_, event_syncs_, unshown_waits_;
  std::int64_t first_call_ = 0;
  std::vector<std::map<std::string, std::string>> devices_;
  std::set<std::pair<std::string, std::string>> streams_with_work_;
  std::set<std::string> devices_with_work_;
  Expectation out_;
};

// Kineto's traces have no such rows.
bool is_our_own(const Row& row) {
  if (row.category == "Trace" || row.phase == 'i') return true;
  if (row.phase != 'M') return false;
  const bool of_device = row.pid.size() < 3;
  if (!of_device || row.name.ends_with("_sort_index")) return true;
  return row.name == "thread_name" && row.args.begin()->second.find("(sync)") != std::string::npos;
}

}  // namespace

const char* name_of(Rule rule) {
  static constexpr const char* kNames[] = {"not from CUPTI",
                                           "external id",
                                           "collective args",
                                           "unrecorded call",
                                           "flow end at a call",
                                           "flow without work",
                                           "flow end at a wait for an event",
                                           "launched before",
                                           "after the window",
                                           "opted in to shared memory",
                                           "single precision",
                                           "graph ids",
                                           "stream priority",
                                           "line of syncs",
                                           "line of overhead",
                                           "name of a stream",
                                           "uuid of a device"};
  return kNames[static_cast<std::size_t>(rule)];
}

Expectation expected_rows(const Trace& original, const Replayed& replayed, bool streams) {
  return Expecting(original, replayed, streams).all();
}

std::vector<Row> comparable_rows(const Trace& ours, const Dialect& dialect, bool with_names) {
  std::vector<Row> rows;
  for (const Row& row : ours.rows) {
    if (is_our_own(row) || (row.phase == 'M' && !with_names)) continue;
    Row& one = rows.emplace_back(row);
    if (one.phase == 'M') one.begin_ns = 0;
    if (dialect.whole_microseconds) {
      one.begin_ns -= one.begin_ns % 1000;
      one.duration_ns -= one.duration_ns % 1000;
    }
  }
  return rows;
}

}  // namespace profshim::replay
