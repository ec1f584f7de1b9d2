#include "analysis/summary/table/key_averages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/summary/cell_text.h"
#include "profshim/analysis.h"
#include "unit/trace/sample_trace.h"

namespace profshim::analysis_detail {
namespace {

using Json = nlohmann::json;

// The file holds torch 1.13's tables of invented events.
const Json& vectors() {
  static const Json kVectors =
      Json::parse(std::ifstream(PROFSHIM_SOURCE_DIR "/tests/golden/key-averages-vectors.json"));
  return kVectors;
}

const Json& vector_of(const std::string& id) {
  for (const Json& vector : vectors().at("cases")) {
    if (vector.at("id") == id) return vector;
  }
  throw std::runtime_error("no vector " + id);
}

// Multiplies times: slice times are whole nanoseconds, but the file has fractions.
constexpr int kStretch = 10;

std::int64_t stretched(const Json& us) { return std::llround(us.get<double>() * 1000 * kStretch); }

void add_event(Timeline& timeline, const Json& event) {
  const bool device = event.contains("device");
  const Track track{device ? 0 : 7, event.at("thread").get<std::int64_t>(), 0, 0};
  auto at = std::find(timeline.tracks.begin(), timeline.tracks.end(), track);
  if (at == timeline.tracks.end()) at = timeline.tracks.insert(at, track);
  Slice slice;
  slice.name = timeline.texts.add(event.at("name").get<std::string>());
  slice.track = static_cast<std::uint32_t>(at - timeline.tracks.begin());
  slice.begin_ns = stretched(event.at("start_us"));
  slice.duration_ns = stretched(event.at("end_us")) - slice.begin_ns;
  slice.kind = device ? Kind::kKernel : Kind::kCpuOp;
  slice.external_id = event.value(device ? "launched_by" : "id", std::int64_t{0});
  slice.asynchronous = event.value("is_async", false);
  timeline.slices.push_back(slice);
}

KeyTable table_of(const Json& vector) {
  std::map<int, Timeline> nodes;
  for (const Json& event : vector.at("events")) add_event(nodes[event.value("node_id", -1)], event);
  KeyAverages averages(false);
  for (const auto& [node, timeline] : nodes) averages.add(timeline, node);
  KeyTable table = averages.finish();
  for (KeyRow& row : table.rows) {
    for (double* us : {&row.self_cpu_us, &row.cpu_total_us, &row.self_device_us, &row.device_total_us}) *us /= kStretch;
  }
  return table;
}

std::string text_of(const Json& vector) {
  return table_text(table_of(vector), {.sort_by = vector.at("sort_by"), .row_limit = vector.at("row_limit")});
}

TEST(KeyAverages, EqualsEveryTableOfTorch) {
  int compared = 0;
  for (const Json& vector : vectors().at("cases")) {
    if (vector.at("id") == "two_nodes_torch_bug") continue;
    EXPECT_EQ(text_of(vector), vector.at("table").get<std::string>()) << vector.at("id");
    ++compared;
  }
  EXPECT_EQ(compared, 7);
}

// torch's table is wrong: threads of two nodes have the same number, so events lose their parents.
TEST(KeyAverages, KeepsTheThreadsOfNodesApart) {
  EXPECT_EQ(text_of(vector_of("two_nodes_torch_bug")), vector_of("two_nodes").at("table").get<std::string>());
}

TEST(KeyAverages, RowsComeInTheOrderOfTheirFirstEvents) {
  for (const Json& vector : vectors().at("cases")) {
    if (vector.at("id") == "two_nodes_torch_bug") continue;
    const KeyTable table = table_of(vector);

    ASSERT_EQ(table.rows.size(), vector.at("rows").size()) << vector.at("id");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const Json& expected = vector.at("rows")[i];
      const KeyRow& row = table.rows[i];
      EXPECT_EQ(row.name, expected.at("name").get<std::string>()) << vector.at("id");
      EXPECT_EQ(row.node_id, expected.at("node_id").get<int>());
      EXPECT_EQ(row.on_device, expected.at("device") == "cuda");
      EXPECT_EQ(row.calls, expected.at("calls").get<std::uint64_t>());
      EXPECT_NEAR(row.self_cpu_us, expected.at("self_cpu_us").get<double>(), 1e-6);
      EXPECT_NEAR(row.device_total_us, expected.at("device_total_us").get<double>(), 1e-6);
    }
  }
}

TEST(KeyAverages, SaysWhenDevicesWereBusy) {
  for (const Json& vector : vectors().at("cases")) {
    const KeyTable table = table_of(vector);

    for (const DeviceUse& use : table.devices) {
      const double expected = vector.at("device_busy_union_us").at(std::to_string(use.node_id));
      EXPECT_NEAR(use.busy_us / kStretch, expected, 1e-3) << vector.at("id");
    }
  }
}

TEST(KeyAverages, CommunicationIsExposedWhereNoOtherKernelRuns) {
  const KeyTable table = table_of(vector_of("one_process"));

  ASSERT_EQ(table.devices.size(), 1u);
  EXPECT_NEAR(table.devices[0].communication_us / kStretch, 410, 1e-6);
  EXPECT_NEAR(table.devices[0].exposed_us / kStretch, 120, 1e-6);
}

TEST(TableText, FormatsNumbersAsTorchDoes) {
  for (const Json& pair : vectors().at("format_time")) {
    EXPECT_EQ(format_time(pair[0].get<double>()), pair[1].get<std::string>());
  }
  for (const Json& pair : vectors().at("format_time_share")) {
    EXPECT_EQ(format_share(pair[0].get<double>(), pair[1].get<double>()), pair[2].get<std::string>());
  }
  for (const Json& pair : vectors().at("format_memory_1_13")) {
    std::string text = pair[1];  // newer torch prints KB, not Kb
    for (char& c : text) c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(format_bytes(pair[0].get<double>()), text);
  }
}

std::string event(const std::string& cat, const std::string& name, int begin, int end, const std::string& args = "",
                  int tid = 8) {
  const bool device = cat.find("gpu_") == 0 || cat == "kernel";
  return "{\"ph\":\"X\",\"cat\":\"" + cat + "\",\"name\":\"" + name + "\",\"pid\":" + (device ? "0" : "777") +
         ",\"tid\":" + std::to_string(tid) + ",\"ts\":" + std::to_string(begin) +
         ",\"dur\":" + std::to_string(end - begin) + ",\"args\":{" + args + "}}";
}

KeyTable table_of_events(const std::vector<std::string>& events, const std::string& members = "",
                         bool by_shapes = false) {
  std::string text = "{\"schemaVersion\": 1, " + members + "\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i > 0 ? "," : "") + events[i];
  KeyAverages averages(by_shapes);
  averages.add(load_timeline_bytes(text + "]}", "trace", {.input_dims = by_shapes}), -1);
  return averages.finish();
}

const KeyRow& row_of(const KeyTable& table, const std::string& name, bool on_device = false) {
  for (const KeyRow& row : table.rows) {
    if (row.name == name && row.on_device == on_device) return row;
  }
  static const KeyRow kNoRow;
  ADD_FAILURE() << "no row " << name;
  return kNoRow;
}

TEST(KeyAverages, AKernelBelongsToTheOperatorOfItsExternalId) {
  const KeyTable table =
      table_of_events({event("cpu_op", "aten::mm", 0, 50, "\"External id\":3"),
                       event("cuda_runtime", "cudaLaunchKernel", 10, 20, "\"External id\":3,\"correlation\":90"),
                       event("kernel", "gemm", 30, 70, "\"External id\":3,\"correlation\":90")});

  EXPECT_EQ(row_of(table, "aten::mm").self_device_us, 40);
  EXPECT_EQ(row_of(table, "cudaLaunchKernel").self_device_us, 0);
  EXPECT_EQ(row_of(table, "gemm", true).self_device_us, 40);
  EXPECT_EQ(row_of(table, "gemm", true).cpu_total_us, 0);
}

TEST(KeyAverages, AKernelWithoutOneBelongsToTheOperatorOfItsLaunch) {
  const KeyTable table =
      table_of_events({event("cpu_op", "aten::mm", 0, 50, "\"External id\":3"),
                       event("cuda_runtime", "cudaLaunchKernel", 10, 20, "\"External id\":3,\"correlation\":90"),
                       event("kernel", "gemm", 30, 70, "\"correlation\":90")});

  EXPECT_EQ(row_of(table, "aten::mm").self_device_us, 40);
}

// Until 2024-10 Kineto gave calls outside operators their correlation id as External id. Here an operator has the same
// id.
TEST(KeyAverages, AKernelWithoutAnOperatorBelongsToItsLaunch) {
  const KeyTable table =
      table_of_events({event("cpu_op", "aten::mm", 0, 5, "\"External id\":90"),
                       event("user_annotation", "range", 6, 60, "\"External id\":4"),
                       event("cuda_runtime", "cudaLaunchKernel", 10, 20, "\"External id\":90,\"correlation\":90"),
                       event("kernel", "gemm", 30, 70, "\"correlation\":90")});

  EXPECT_EQ(row_of(table, "aten::mm").self_device_us, 0);
  EXPECT_EQ(row_of(table, "cudaLaunchKernel").self_device_us, 40);
  EXPECT_EQ(row_of(table, "range").self_device_us, 0);
  EXPECT_EQ(row_of(table, "range").device_total_us, 40);
}

// A CUDA call's thread id comes from CUPTI and may differ from its operator's.
TEST(KeyAverages, ACallIsNestedOnTheThreadOfItsOperator) {
  const KeyTable table = table_of_events(
      {event("cpu_op", "aten::mm", 0, 50, "\"External id\":3"),
       event("cuda_runtime", "cudaLaunchKernel", 10, 20, "\"External id\":3,\"correlation\":90", 4711)});

  EXPECT_EQ(row_of(table, "aten::mm").self_cpu_us, 40);
}

TEST(KeyAverages, RangesOfStreamsAreRowsButNotInTheTotal) {
  const KeyTable table = table_of_events({event("user_annotation", "step", 0, 50, "\"External id\":4"),
                                          event("kernel", "gemm", 10, 40, "\"correlation\":90"),
                                          event("gpu_user_annotation", "step", 10, 40, "\"External id\":4")});

  EXPECT_EQ(row_of(table, "step", true).self_device_us, 30);
  EXPECT_EQ(row_of(table, "step").device_total_us, 0);
  EXPECT_EQ(table_totals(table).self_device_us, 30);
}

TEST(KeyAverages, LeavesOutPythonFunctionsWaitsAndHelpers) {
  const KeyTable table =
      table_of_events({event("cpu_op", "aten::mm", 0, 50), event("python_function", "train.py(3): f", 0, 60),
                       event("cpu_op", "aten::is_leaf", 1, 2), event("cuda_sync", "Stream Sync", 1, 2)});

  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].self_cpu_us, 50);
}

TEST(KeyAverages, AFoldedChildLeavesItsKernelsToItsParent) {
  const KeyTable table = table_of_events(
      {event("cpu_op", "aten::mm", 0, 50, "\"External id\":3"), event("cpu_op", "aten::mm", 1, 49, "\"External id\":4"),
       event("cpu_op", "aten::empty", 5, 10), event("kernel", "a", 10, 20, "\"External id\":3"),
       event("kernel", "b", 20, 40, "\"External id\":4")});

  EXPECT_EQ(row_of(table, "aten::mm").calls, 1u);
  EXPECT_EQ(row_of(table, "aten::mm").self_cpu_us, 45);
  EXPECT_EQ(row_of(table, "aten::mm").self_device_us, 30);
}

TEST(KeyAverages, AsynchronousWorkHasARowOfItsOwn) {
  KeyAverages averages(false);
  averages.add(load_timeline_bytes(test::sample_trace(), "trace"), -1);
  const KeyTable table = averages.finish();

  const auto is_message = [](const KeyRow& row) { return row.name == "MPI_Irecv" && row.asynchronous; };
  const auto message = std::find_if(table.rows.begin(), table.rows.end(), is_message);
  ASSERT_NE(message, table.rows.end());
  EXPECT_EQ(message->calls, 3u);
  EXPECT_EQ(message->self_cpu_us, 0);
  EXPECT_NEAR(message->cpu_total_us, 3 * 750.25, 1e-9);
  EXPECT_NEAR(row_of(table, "exchange halo").self_cpu_us, 3 * (3000 - 20.125 - 500.25), 1e-9);
  EXPECT_EQ(row_of(table, "ProfilerStep*").calls, 3u);
}

TEST(KeyAverages, MemoryIsThatOfTheIntervalLessThatOfTheChildren) {
  const auto memory = [](int at, int bytes, int device) {
    return "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":777,\"tid\":8,\"ts\":" + std::to_string(at) +
           ",\"args\":{\"Device Type\":" + std::to_string(device) +
           ",\"Device Id\":0,\"Bytes\":" + std::to_string(bytes) + "}}";
  };
  const KeyTable table = table_of_events(
      {event("cpu_op", "outer", 0, 50), event("cpu_op", "inner", 10, 20), memory(5, 1024, 0), memory(15, 512, 0),
       memory(15, 4096, 1), memory(30, -100, 0), memory(60, -7, 0), memory(61, -8, 0)},
      "\"profile_memory\": 1, ");

  EXPECT_TRUE(table.memory);
  EXPECT_EQ(row_of(table, "outer").cpu_bytes, 1436);
  EXPECT_EQ(row_of(table, "outer").self_cpu_bytes, 924);
  EXPECT_EQ(row_of(table, "outer").self_device_bytes, 0);
  EXPECT_EQ(row_of(table, "inner").device_bytes, 4096);
  EXPECT_EQ(row_of(table, "[memory]").calls, 2u);
  EXPECT_EQ(row_of(table, "[memory]").self_cpu_bytes, -15);
}

struct RankOf {
  int rank;
  std::string host;
  int node_rank = -1;
};

/// A trace of one operator of 10 us; profshim's own if it has a node rank.
Timeline trace_of(const RankOf& of) {
  const std::string ours =
      of.node_rank < 0 ? ""
                       : "\"profshim\": {\"version\": \"1\", \"node_rank\": " + std::to_string(of.node_rank) + "}, ";
  return load_timeline_bytes("{\"schemaVersion\": 1, " + ours + "\"host_name\": \"" + of.host +
                                 "\", \"distributedInfo\": {\"rank\": " + std::to_string(of.rank) +
                                 ", \"world_size\": 8}, \"traceEvents\": [" + event("cpu_op", "aten::mm", 0, 10) + "]}",
                             "trace" + std::to_string(of.rank));
}

std::vector<std::string> nodes_of(const std::vector<RankOf>& ranks) {
  KeyAverages averages(false);
  for (const RankOf& rank : ranks) averages.add_by_node(trace_of(rank));
  const KeyTable table = averages.finish();
  std::vector<std::string> texts;
  for (const KeyNode& node : table.nodes) {
    std::uint64_t calls = 0;
    for (const KeyRow& row : table.rows) calls += row.node_id == node.id ? row.calls : 0;
    texts.push_back(std::to_string(node.id) + " " + node.host + ": " + rank_list(node.ranks) + ", " +
                    std::to_string(calls) + " calls");
  }
  return texts;
}

TEST(KeyAverages, NodesHaveTheirNodeRank) {
  EXPECT_EQ(nodes_of({{3, "b", 1}, {0, "a", 0}, {1, "a", 0}, {1, "a", 0}}),
            (std::vector<std::string>{"0 a: 0-1, 3 calls", "1 b: 3, 1 calls"}));
}

TEST(KeyAverages, TwoNodesOfOneHostAreApart) {
  EXPECT_EQ(nodes_of({{0, "a", 0}, {1, "a", 1}}), (std::vector<std::string>{"0 a: 0, 1 calls", "1 a: 1, 1 calls"}));
}

TEST(KeyAverages, HostsAreNumberedByTheirRanks) {
  EXPECT_EQ(nodes_of({{3, "a"}, {2, "a"}, {0, "b"}, {1, "b"}}),
            (std::vector<std::string>{"0 b: 0-1, 2 calls", "1 a: 2-3, 2 calls"}));
}

TEST(KeyAverages, HostsTakeTheNumbersThatNodeRanksLeave) {
  EXPECT_EQ(nodes_of({{0, "a"}, {1, "b", 0}, {2, "c"}}),
            (std::vector<std::string>{"0 b: 1, 1 calls", "1 a: 0, 1 calls", "2 c: 2, 1 calls"}));
}

TEST(KeyAverages, ATraceWithoutItsHostHasNoNode) {
  KeyAverages averages(false);
  EXPECT_THROW(averages.add_by_node(trace_of({0, ""})), std::runtime_error);
}

TEST(KeyAverages, RowsCanBeDividedByShapes) {
  const std::vector<std::string> events = {event("cpu_op", "aten::mm", 0, 5, "\"Input Dims\":[[2, 3], [3, 4]]"),
                                           event("cpu_op", "aten::mm", 6, 9, "\"Input Dims\":[[5], []]"),
                                           event("cpu_op", "other", 10, 11)};

  const KeyTable divided = table_of_events(events, "", true);
  const KeyTable whole = table_of_events(events);

  ASSERT_EQ(divided.rows.size(), 3u);
  EXPECT_EQ(divided.rows[0].input_shapes, "[[2, 3], [3, 4]]");
  EXPECT_EQ(divided.rows[2].input_shapes, "[]");
  EXPECT_NE(table_text(divided, {}).find("      Input Shapes  \n"), std::string::npos) << table_text(divided, {});
  EXPECT_EQ(whole.rows.size(), 2u);
  EXPECT_EQ(table_text(whole, {}).find("Input Shapes"), std::string::npos);
}

// torch 2.15 prints the lines below, except for the times.
TEST(TableText, ScalesFloatingPointOperationsByTheLeastRow) {
  const KeyTable table =
      table_of_events({event("cpu_op", "aten::mm", 0, 5, "\"flops\":2520000"),
                       event("cpu_op", "aten::add", 6, 9, "\"flops\":10500"), event("cpu_op", "aten::t", 10, 11)});

  const std::string text = table_text(table, {});

  EXPECT_NE(text.find("  # of Calls  Total KFLOPs  \n"), std::string::npos) << text;
  EXPECT_NE(text.find("             1      2520.000  \n"), std::string::npos) << text;
  EXPECT_NE(text.find("             1        10.500  \n"), std::string::npos) << text;
  EXPECT_NE(text.find("             1            --  \n"), std::string::npos) << text;
}

TEST(TableText, HasAHeaderAndTopLevelEventsOnly) {
  const KeyTable table = table_of_events({event("cpu_op", "outer", 0, 50), event("cpu_op", "inner", 10, 20)});

  const std::string text = table_text(table, {.header = "before", .top_level_only = true, .time_unit = "ms"});

  EXPECT_EQ(text,
            std::string(93, '=') + "\nbefore\n" + std::string(93, '=') +
                "\nThis report only display top-level ops statistics\n"
                "---------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
                "     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
                "---------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
                "    outer        80.00%       0.040ms       100.00%       0.050ms       0.050ms             1  \n"
                "---------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
                "Self CPU time total: 0.050ms\n");
}

TEST(TableText, CountsCharactersNotBytes) {
  const KeyTable table = table_of_events({event("cpu_op", "größe", 0, 50)});

  EXPECT_NE(table_text(table, {}).find("\n    größe       100.00%  "), std::string::npos) << table_text(table, {});
}

TEST(TableText, ANameGivesTheTerminalNoOrders) {
  const KeyTable table = table_of_events({event("cpu_op", "a\\u001b[2Jb\\nc", 0, 50)});

  EXPECT_NE(table_text(table, {}).find("\na\\x1b[2Jb\\nc       100.00%"), std::string::npos) << table_text(table, {});
}

TEST(TableText, RefusesAnUnknownKey) {
  const KeyTable table = table_of_events({event("cpu_op", "a", 0, 50)});

  EXPECT_THROW(table_text(table, {.sort_by = "no_such_key"}), std::runtime_error);
}

}  // namespace
}  // namespace profshim::analysis_detail
