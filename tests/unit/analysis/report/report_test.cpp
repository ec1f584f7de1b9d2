#include "profshim/analysis/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "analysis/report/traces.h"
#include "unit/analysis/hand_made.h"
#include "unit/temporary_folder.h"

namespace profshim::analysis_detail::test {
namespace {

class ReportOfFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, int rank, const std::vector<HandEvent>& events,
                    const std::string& members = "", int world_size = 2) {
    std::string text = "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                       ", \"world_size\": " + std::to_string(world_size) + "}, " + members + "\"traceEvents\": [";
    for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ", ") + json_of(events[i]);
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text << "]}";
    return path;
  }

  static std::string verdict_of(const Report& report) {
    std::string text;
    for (const ReportFinding& finding : report.verdict) text += finding.text + "\n";
    return text;
  }
  static const ReportSection& section(const Report& report, const std::string& key) {
    for (const ReportSection& one : report.sections) {
      if (one.key == key) return one;
    }
    throw std::runtime_error("no section " + key);
  }
  static std::string refusal(const std::vector<std::string>& paths) {
    try {
      make_report(paths);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  profshim::test::TemporaryFolder folder_;
};

HandEvent step(int number, double ts, double dur) {
  return {"user_annotation", "ProfilerStep#" + std::to_string(number), ts, dur, 1};
}

TEST_F(ReportOfFiles, PartsOfAStepAddUpToIt) {
  const std::string path = write("a.json", 0,
                                 {step(1, 0, 1000),
                                  {"kernel", "gemm", 100, 400, 7},
                                  {"kernel", "ncclDevKernel_AllReduce_RING(x)", 400, 300, 8},
                                  {"gpu_memcpy", "Memcpy HtoD", 700, 50, 7}},
                                 "", 1);

  const Report report = make_report({path});

  const ReportPlot& split = section(report, "steps").plots.at(1);
  std::map<std::string, double> parts;
  double sum = 0;
  for (const auto& series : split.series) sum += parts[series.label] = series.values.at(0);
  EXPECT_DOUBLE_EQ(parts["compute"], 300);
  EXPECT_DOUBLE_EQ(parts["compute and communication at once"], 100);
  EXPECT_DOUBLE_EQ(parts["communication alone (exposed)"], 200);
  EXPECT_DOUBLE_EQ(parts["copies alone"], 50);
  EXPECT_DOUBLE_EQ(parts["device idle"], 350);
  EXPECT_DOUBLE_EQ(sum, 1000);
  const std::string verdict = verdict_of(report);
  EXPECT_NE(verdict.find("Communication takes 30 % of a step; 20 % is exposed"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("Devices are busy for 65 % of a step"), std::string::npos) << verdict;
}

TEST_F(ReportOfFiles, SharesAreOfTheWholeTimeWithoutSteps) {
  const std::string path =
      write("a.json", 0, {{"cpu_op", "aten::add", 0, 250, 1}, {"cpu_op", "aten::mul", 750, 250, 1}});

  const Report report = make_report({path});

  const ReportPlot& split = section(report, "steps").plots.at(0);
  EXPECT_EQ(split.key, "time-split");
  EXPECT_DOUBLE_EQ(split.series.at(0).values.at(0), 500);
  EXPECT_DOUBLE_EQ(split.series.at(1).values.at(0), 500);
}

TEST_F(ReportOfFiles, GroupsOfProcessesAreApart) {
  const std::string engine = write("engine.json", 0, {step(1, 0, 1000), {"kernel", "decode", 100, 400, 7}}, "", 1),
                    first = write("a.json", 0, {step(1, 0, 2000), {"kernel", "gemm", 100, 400, 7}}),
                    second = write("b.json", 1, {step(1, 0, 2000), {"kernel", "gemm", 100, 400, 7}});

  const Report report = make_report(
      std::vector<TraceGroup>{{.role = "trainer", .paths = {first, second}}, {.role = "rollout", .paths = {engine}}},
      {"Group 0", "Group 1"});

  ASSERT_EQ(report.groups.size(), 2u);
  EXPECT_EQ(report.groups[0].title, "Group 0");
  const auto kernels_in = [](const Report& group, const std::string& key) {
    std::map<std::string, std::string> calls;
    for (const auto& row : section(group, key).tables.at(0).rows) calls[text_of(row[0])] = text_of(row[2]);
    return calls;
  };
  EXPECT_EQ(kernels_in(report.groups[0], "group-0-top"), (std::map<std::string, std::string>{{"gemm", "2"}}));
  EXPECT_EQ(kernels_in(report.groups[1], "group-1-top"), (std::map<std::string, std::string>{{"decode", "1"}}));
  EXPECT_EQ(section(report, "groups").tables.at(0).rows.size(), 2u);
  EXPECT_NE(verdict_of(report.groups[0]).find("A step takes 2.00 ms"), std::string::npos)
      << verdict_of(report.groups[0]);
  EXPECT_NE(verdict_of(report.groups[1]).find("A step takes 1.00 ms"), std::string::npos)
      << verdict_of(report.groups[1]);
}

TEST_F(ReportOfFiles, EqualRanksHaveNoSlowestRank) {
  const std::vector<HandEvent> events = {step(1, 0, 1000), {"kernel", "gemm", 0.1, 899.7, 7}};

  const Report report = make_report({write("a.json", 0, events), write("b.json", 1, events)});

  EXPECT_EQ(report.title, "a.json and 1 other");
  const ReportSection& steps = section(report, "steps");
  EXPECT_EQ(steps.tables.at(1).key, "slowest");
  EXPECT_EQ(steps.tables.at(1).rows.at(0).at(2), Cell());
  std::vector<std::string> parts;
  for (const auto& series : steps.plots.at(1).series) parts.push_back(series.label);
  EXPECT_EQ(parts, (std::vector<std::string>{"compute", "device idle"}));
}

TEST_F(ReportOfFiles, ManyRanksAreTheSlowestLinesAndARange) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 12; ++rank) {
    paths.push_back(write(std::to_string(rank) + ".json", rank,
                          {step(1, 0, 1000 + rank), {"cpu_op", "aten::add", 0, 10, 1}}, "", 12));
  }

  const ReportPlot plot = section(make_report(paths), "steps").plots.at(0);

  ASSERT_EQ(plot.series.size(), 8u);
  EXPECT_EQ(plot.series[0].label, "slowest");
  EXPECT_DOUBLE_EQ(plot.series[0].values[0], 1011);
  EXPECT_DOUBLE_EQ(plot.series[1].values[0], 1005.5);
  EXPECT_DOUBLE_EQ(plot.series[2].values[0], 1000);
  EXPECT_EQ(plot.series[3].label, "rank 11");
}

TEST_F(ReportOfFiles, ManyRanksAreTheOnesThatDifferMost) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 40; ++rank) {
    const double busy = rank == 33 ? 100 : 900;
    paths.push_back(
        write(std::to_string(rank) + ".json", rank, {step(1, 0, 1000), {"cpu_op", "aten::mm", 0, busy, 1}}, "", 40));
  }

  const ReportSection steps = section(make_report(paths), "steps");

  const std::vector<std::string>& shown = steps.plots.at(1).labels;
  EXPECT_EQ(shown.size(), 24u);
  EXPECT_NE(std::find(shown.begin(), shown.end(), "33"), shown.end());
  EXPECT_EQ(steps.tables.at(0).rows.size(), 24u);
  EXPECT_NE(std::find(steps.notes.begin(), steps.notes.end(),
                      "Bars and table show 24 of 40 ranks: those that differ most from the median."),
            steps.notes.end());
}

TEST_F(ReportOfFiles, NamesRanksThatWaitedForACpu) {
  const auto of_rank = [&](int rank, int waited_us) {
    return write(
        "rank" + std::to_string(rank) + ".json", rank, {{"cpu_op", "aten::add", 0, 250, 1}},
        "\"host_name\": \"n\", \"profshim\": {\"run_name\": \"r\", \"window\": 0, \"cpu\": {\"measured_us\": 1000, "
        "\"waited_us\": " +
            std::to_string(waited_us) +
            ", \"process_us\": 500, \"machine_us\": 3900, \"stolen_us\": 0, \"cpus\": 4}}, ",
        2);
  };
  const Report crowded = make_report({of_rank(0, 150), of_rank(1, 410)});
  const Report one = make_report({of_rank(0, 20), of_rank(1, 410)});
  const Report quiet = make_report({of_rank(0, 20), of_rank(1, 30)});

  EXPECT_NE(verdict_of(crowded).find(
                "Threads of ranks 0, 1 waited for a CPU, those of rank 1 longest, together 0.41 s per second: the "
                "ranks used 1.0 of 4 CPUs, other processes 2.9."),
            std::string::npos)
      << verdict_of(crowded);
  EXPECT_NE(verdict_of(one).find("Threads of rank 1 waited for a CPU, together 0.41 s per second: "), std::string::npos)
      << verdict_of(one);
  EXPECT_EQ(verdict_of(quiet).find("waited for a CPU"), std::string::npos) << verdict_of(quiet);
  const ViewTable& cpus = section(quiet, "losses").tables.back();
  ASSERT_EQ(cpus.key, "cpus");
  ASSERT_EQ(cpus.rows.size(), 2u);
  EXPECT_EQ(cpus.rows[1][2], Cell(30.0));
  EXPECT_EQ(cpus.rows[1][3], Cell(3.0));
  EXPECT_EQ(cpus.rows[1][5], Cell(50.0));
}

TEST_F(ReportOfFiles, ReportsIncompleteWindows) {
  const std::string path =
      write("a.json", 0, {{"cpu_op", "aten::add", 0, 250, 1}}, "\"profshim\": {\"complete\": false}, ");

  const std::string verdict = verdict_of(make_report({path}));

  EXPECT_NE(verdict.find("The window is incomplete on rank 0: the job ended"), std::string::npos) << verdict;
}

TEST_F(ReportOfFiles, ReportsLossesAndMissingRanks) {
  const std::string path = write("a.json", 0, {{"cpu_op", "aten::add", 0, 250, 1}},
                                 "\"profshim\": {\"run_name\": \"r\", \"complete\": false, \"truncated\": true, "
                                 "\"dropped_events\": 7, \"threads_lost\": 2, "
                                 "\"problems\": [{\"source\": \"cupti\", \"lost\": \"no kernels\"}]}, ",
                                 4);

  const Report report = make_report({path});

  const std::string verdict = verdict_of(report);
  EXPECT_NE(verdict.find("Traces of 1 of 4 ranks"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("Events were lost on rank 0 (7 events dropped)"), std::string::npos) << verdict;
  EXPECT_EQ(verdict.find("The window is incomplete"), std::string::npos) << "the limit is the reason: " << verdict;
  EXPECT_NE(verdict.find("A limit of the spec (table [limits]) closed the window on rank 0"), std::string::npos)
      << verdict;
  EXPECT_NE(verdict.find("1 problem of the recording: no kernels"), std::string::npos) << verdict;
  const auto& row = section(report, "losses").tables.at(0).rows.at(0);
  EXPECT_EQ(row[4], Cell(std::int64_t{7}));
  EXPECT_EQ(row[5], Cell(std::string("threads lost 2")));
}

TEST_F(ReportOfFiles, ReportsNoLossOnlyIfTheTraceCountsLosses) {
  const std::vector<HandEvent> events = {{"cpu_op", "aten::add", 0, 250, 1}};
  const auto says_so = [&](const std::string& more) {
    const std::string ours = "\"profshim\": {\"complete\": true, \"dropped_events\": 0" + more + "}, ";
    return verdict_of(make_report({write("b.json", 0, events, ours, 1)})).find("No recorded event was lost") !=
           std::string::npos;
  };
  EXPECT_TRUE(says_so(""));
  EXPECT_FALSE(says_so(", \"problems\": [{\"source\": \"cupti\", \"lost\": \"2 records were dropped\"}]"));
  EXPECT_FALSE(says_so(", \"device\": {\"dropped_records\": 3}"));

  const Report report = make_report({write("a.json", 0, events, "", 1)});

  EXPECT_EQ(verdict_of(report).find("No recorded event was lost"), std::string::npos);
  EXPECT_EQ(section(report, "losses").tables.at(0).rows.at(0)[4], Cell());
}

TEST_F(ReportOfFiles, SplitsAMergedTraceIntoItsRanks) {
  const std::string path = folder_.path() + "/all.json";
  std::ofstream(path) << R"({"profshim": {"merged": [
      {"rank": 3, "host": "a", "first_pid": 3000, "clock": "reference", "offset_us": 0, "error_us": 0},
      {"rank": 5, "host": "b", "first_pid": 5000, "clock": "collectives", "offset_us": 12.5, "error_us": 3.5}]},
    "traceEvents": [
      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 3000, "tid": 7, "ts": 0, "dur": 10, "args": {}},
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 3064, "tid": 1, "ts": 0, "dur": 5, "args": {}},
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5064, "tid": 2, "ts": 0, "dur": 5, "args": {}},
      {"ph": "X", "cat": "cpu_op", "name": "stray", "pid": 12, "tid": 2, "ts": 0, "dur": 5, "args": {}}]})";

  const Report report = make_report({path});

  const auto& traces = section(report, "losses").tables.at(0).rows;
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0][0], Cell(std::int64_t{3}));
  EXPECT_EQ(traces[0][1], Cell(std::int64_t{2}));
  EXPECT_EQ(traces[1][1], Cell(std::int64_t{1}));
  EXPECT_EQ(traces[0][4], Cell());
  const auto& clocks = section(report, "clocks").tables.at(0).rows;
  EXPECT_EQ(clocks[1][1], Cell(std::string("b")));
  EXPECT_EQ(clocks[1][5], Cell(3.5));
  EXPECT_NE(verdict_of(report).find("Clocks of different ranks agree to within 3.50 µs (rank 5)"), std::string::npos)
      << verdict_of(report);
}

TEST_F(ReportOfFiles, ADamagedListOfMergedRanksDoesNoHarm) {
  for (const char* const merged :
       {R"({"1000000000": {"rank": 1}})", R"([{"rank": 99999999999, "first_pid": -9}])", "[7]"}) {
    const std::string path = write("a.json", 0, {{"cpu_op", "aten::mm", 0, 5, 1}},
                                   "\"profshim\": {\"merged\": " + std::string(merged) + "}, ", 1);

    EXPECT_EQ(refusal({path}), "") << merged;
  }
}

// Rank 0's trace ends inside an MPI_Allreduce that rank 1 never called.
TEST_F(ReportOfFiles, NamesTheRankThatNeverEntered) {
  const auto args = [](int sequence, const std::string& more = "") {
    return "\"comm\": \"MPI_COMM_WORLD\", \"comm id\": \"fe\", \"Group size\": 2, \"Seq\": " +
           std::to_string(sequence) + more;
  };
  const std::string ours = "\"profshim\": {\"complete\": false}, ";
  const std::string a = write("a.json", 0,
                              {{"cpu_op", "MPI_Allreduce", 0, 5, 1, args(1)},
                               {"cpu_op", "MPI_Allreduce", 10, 90, 1, args(2, ", \"finished\": false")}},
                              ours),
                    b = write("b.json", 1,
                              {{"cpu_op", "MPI_Allreduce", 0, 5, 1, args(1)}, {"cpu_op", "MPI_Send", 20, 80, 1}}, ours);

  const Report report = make_report({a, b});

  EXPECT_EQ(report.verdict.at(0).text,
            "Rank 1 never entered MPI_Allreduce #2 on MPI_COMM_WORLD, where other ranks were waiting at the end.");
}

TEST_F(ReportOfFiles, RefusesTracesOfDifferentJobs) {
  const std::vector<HandEvent> events = {{"cpu_op", "aten::add", 0, 250, 1}};
  const auto ours = [](const std::string& run, int window) {
    return "\"profshim\": {\"run_name\": \"" + run + "\", \"window\": " + std::to_string(window) + "}, ";
  };
  const std::string a = write("a.json", 0, events, ours("one", 0)), b = write("b.json", 1, events, ours("two", 0)),
                    larger = write("c.json", 1, events, "", 8), again = write("d.json", 0, events, ours("one", 0)),
                    next = write("e.json", 0, events, ours("one", 1));

  EXPECT_NE(refusal({a, b}).find("is of run one, " + b + " of run two"), std::string::npos) << refusal({a, b});
  EXPECT_NE(refusal({a, larger}).find("of a job of 2 ranks"), std::string::npos) << refusal({a, larger});
  EXPECT_NE(refusal({a, again}).find("are both of rank 0"), std::string::npos) << refusal({a, again});
  EXPECT_EQ(refusal({a, next}), "");
}

TEST_F(ReportOfFiles, WindowsOfPyTorchDifferInTheirSteps) {
  const std::string one = write("a.json", 0, {step(1, 0, 100)}, "", 1),
                    two = write("b.json", 0, {step(2, 90, 100)}, "", 1);

  EXPECT_EQ(refusal({one, two}), "");
  EXPECT_NE(refusal({one, write("c.json", 0, {step(1, 0, 100)}, "", 1)}), "");
}

}  // namespace
}  // namespace profshim::analysis_detail::test
