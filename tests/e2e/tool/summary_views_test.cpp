#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr char kGolden[] = PROFSHIM_SOURCE_DIR "/tests/golden/";

using Rows = std::vector<std::map<std::string, std::string>>;

Rows rows_of(const rapidjson::Document& document, const char* view, const char* table) {
  Rows rows;
  if (!document.IsObject() || !document.HasMember(view) || !document[view].HasMember(table)) return rows;
  for (const auto& row : document[view][table].GetArray()) {
    auto& cells = rows.emplace_back();
    for (const auto& cell : row.GetObject()) {
      const auto& value = cell.value;
      cells[cell.name.GetString()] = value.IsString()   ? value.GetString()
                                     : value.IsInt64()  ? std::to_string(value.GetInt64())
                                     : value.IsDouble() ? std::to_string(value.GetDouble())
                                                        : "null";
    }
  }
  return rows;
}

rapidjson::Document summary_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"summary", "--json"});
  const Outcome outcome = profshim(arguments);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  rapidjson::Document document;
  document.Parse(outcome.out.c_str());
  EXPECT_FALSE(document.HasParseError()) << outcome.out;
  return document;
}

constexpr int kSlow = 2;

std::string record_slow_rank(const ScratchFolder& scratch, Mpi mpi, const std::string& ms, const std::string& steps) {
  Job job = mpirun(mpi, 4, {built("tests/apps/" + to_string(mpi) + "/slow_rank"), std::to_string(kSlow), "12", ms});
  job.folder = scratch.path();
  const std::string spec = "version = 1\n[ranks]\nselect = \"all\"\n[output]\nfolder = \"" + scratch / "traces" +
                           "\"\ngzip = false\n" + steps;
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return scratch / "traces";
}

TEST(SummaryViews, NameTheRankThatCameLastInAnMpiJob) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    const std::string traces = record_slow_rank(scratch, mpi, "20", "[steps]\nsource = \"none\"\n");

    const auto document = summary_json({"--comms", "--mpi", traces});
    const Outcome text = profshim({"summary", "--comms", "--mpi", "--time-unit", "ms", traces});

    const Rows waits = rows_of(document, "comms", "waits");
    int ranks = 0;
    for (const auto& row : waits) {
      if (row.at("function") != "MPI_Allreduce") continue;
      ++ranks;
      const bool slow = row.at("rank") == std::to_string(kSlow);
      EXPECT_EQ(row.at("matched"), "12");
      // The rank whose call is the shortest counts as the last. On a busy machine, the slow rank may leave its call
      // late.
      if (slow) {
        EXPECT_GE(std::stoi(row.at("came_last")), 9);
      } else {
        EXPECT_LE(std::stoi(row.at("came_last")), 3);
        EXPECT_GE(std::stod(row.at("waited_us")), 9 * 15000) << row.at("rank");
      }
    }
    EXPECT_EQ(ranks, 4) << to_string(mpi);
    for (const auto& row : rows_of(document, "comms", "comms")) {
      if (row.at("function") != "MPI_Allreduce") continue;
      EXPECT_EQ(row.at("count"), "48");
      EXPECT_EQ(row.at("group"), "MPI_COMM_WORLD");
      EXPECT_DOUBLE_EQ(std::stod(row.at("mean_bytes")), 2048);
    }
    std::map<std::string, std::string> calls;
    for (const auto& row : rows_of(document, "mpi", "mpi")) {
      if (row.at("function") == "MPI_Allreduce") calls[row.at("rank")] = row.at("calls");
    }
    EXPECT_EQ(calls,
              (std::map<std::string, std::string>{{"all", "48"}, {"0", "12"}, {"1", "12"}, {"2", "12"}, {"3", "12"}}));
    EXPECT_TRUE(rows_of(document, "comms", "never_entered").empty());
    EXPECT_EQ(text.ending(), "exit 0") << text.err;
    EXPECT_NE(text.out.find("\nWaiting for other ranks\n"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("\nMPI calls\n"), std::string::npos) << text.out;
  }
}

TEST(SummaryViews, NameTheRankThatAHungJobWaitedFor) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 4, {built("tests/apps/" + to_string(mpi) + "/slow_rank"), "2", "12", "1", "7"});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
    EXPECT_NE(run(job).ending(), "exit 0");
    // A launcher may end before its ranks.
    Outcome recover = profshim({"recover", scratch / "traces"});
    for (int i = 0; i < 200 && recover.ending() != "exit 0"; ++i) {
      usleep(50'000);
      recover = profshim({"recover", scratch / "traces"});
    }
    ASSERT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;

    const Outcome text = profshim({"summary", "--comms", scratch / "traces"});

    EXPECT_NE(text.out.find("\nrank 2 never entered MPI_Allreduce #9 on MPI_COMM_WORLD\n"), std::string::npos)
        << to_string(mpi) << text.out;
    EXPECT_EQ(text.out.find("never entered"), text.out.rfind("never entered")) << text.out;
  }
}

TEST(SummaryViews, FindASleepBetweenStepsAndNameIt) {
  const ScratchFolder scratch;
  const std::string traces = record_slow_rank(scratch, Mpi::kOpenMpi, "50",
                                              "[steps]\nsource = \"collective\"\npattern = \"MPI_Allreduce\"\n"
                                              "[schedule]\nskip_first = 2\nwarmup = 0\nactive = 4\n");

  const auto document = summary_json({"--steps", traces});

  std::set<std::string> before;
  for (const auto& row : rows_of(document, "steps", "gaps")) {
    if (row.at("rank") != std::to_string(kSlow) || std::stod(row.at("duration_us")) < 50000) continue;
    EXPECT_EQ(row.at("before"), "MPI_Allreduce");
    if (row.at("where") == "before") before.insert(row.at("step"));
  }
  EXPECT_EQ(before, (std::set<std::string>{"3", "4", "5"}));
  int steps = 0;
  for (const auto& row : rows_of(document, "steps", "steps")) {
    ++steps;
    const double duration = std::stod(row.at("duration_us")), idle = std::stod(row.at("idle_us"));
    EXPECT_NEAR(duration - idle, std::stod(row.at("communication_us")), 0.01);
    if (row.at("rank") == std::to_string(kSlow)) {
      EXPECT_GE(idle, 50000);
    }
  }
  EXPECT_EQ(steps, 16);
}

bool is_device_work(const SeenEvent& e) {
  return e.phase == "X" && (e.category == "kernel" || e.category == "gpu_memcpy" || e.category == "gpu_memset");
}

double busy_ns(const SeenTrace& trace, std::int64_t from, std::int64_t to) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const SeenEvent& e : trace.events) {
    if (!is_device_work(e)) continue;
    const std::int64_t begin = std::max(e.ts_ns, from), end = std::min(e.ts_ns + e.duration_ns, to);
    if (begin >= end) continue;
    changes.emplace_back(begin, 1);
    changes.emplace_back(end, -1);
  }
  std::sort(changes.begin(), changes.end());
  double busy = 0;
  int running = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (running > 0) busy += static_cast<double>(changes[i].first - changes[i - 1].first);
    running += changes[i].second;
  }
  return busy;
}

TEST(SummaryViews, AgreeWithIndependentSumsOnRealGpuTraces) {
  for (const std::string name : {"traces/hta-ddp-nccl-3steps.json.gz", "traces/tracelens-b200-8gpu-rank0.json.gz",
                                 "traces/hta-cuda-event-sync-multistream.json.gz", "gpu/rank1.5.pt.trace.json"}) {
    const SeenTrace trace = read_seen(kGolden + name);
    ASSERT_TRUE(trace.readable) << trace.error;
    std::map<std::string, std::pair<std::int64_t, double>> by_name;  // count, nanoseconds
    std::int64_t collectives = 0;
    double all_ns = 0, collectives_ns = 0;
    for (const SeenEvent& e : trace.events) {
      if (!is_device_work(e)) continue;
      ++by_name[e.name].first;
      by_name[e.name].second += static_cast<double>(e.duration_ns);
      all_ns += static_cast<double>(e.duration_ns);
      if (e.category != "kernel" || (e.name.rfind("nccl", 0) != 0 && e.args.count("Collective name") == 0)) continue;
      ++collectives;
      collectives_ns += static_cast<double>(e.duration_ns);
    }

    const auto document = summary_json({"--kernels", "--steps", "--comms", kGolden + name});

    std::size_t rows = 0;
    double sum_us = 0;
    for (const auto& row : rows_of(document, "kernels", "kernels")) {
      ++rows;
      sum_us += std::stod(row.at("total_us"));
      ASSERT_TRUE(by_name.count(row.at("name"))) << row.at("name");
      EXPECT_EQ(row.at("count"), std::to_string(by_name[row.at("name")].first)) << row.at("name");
      EXPECT_NEAR(std::stod(row.at("total_us")), by_name[row.at("name")].second / 1000, 0.001) << row.at("name");
    }
    EXPECT_EQ(rows, by_name.size()) << name;
    EXPECT_NEAR(sum_us, all_ns / 1000, 0.001 * static_cast<double>(rows)) << name;
    std::size_t steps = 0;
    for (const auto& row : rows_of(document, "steps", "steps")) {
      ++steps;
      const auto marks = trace.calls("ProfilerStep#" + row.at("step"));
      const auto mark =
          std::find_if(marks.begin(), marks.end(), [](const SeenEvent* e) { return e->category == "user_annotation"; });
      ASSERT_NE(mark, marks.end());
      EXPECT_NEAR(std::stod(row.at("busy_us")),
                  busy_ns(trace, (*mark)->ts_ns, (*mark)->ts_ns + (*mark)->duration_ns) / 1000, 0.001)
          << name << " step " << row.at("step");
    }
    EXPECT_EQ(steps, trace.steps().size()) << name;
    std::int64_t counted = 0;
    double counted_us = 0;
    for (const auto& row : rows_of(document, "comms", "comms")) {
      if (row.at("where") != "device") continue;
      counted += std::stoll(row.at("count"));
      counted_us += std::stod(row.at("total_us"));
    }
    EXPECT_EQ(counted, collectives) << name;
    EXPECT_NEAR(counted_us, collectives_ns / 1000, 0.01) << name;
  }
}

TEST(SummaryViews, AgreeWithTheBandwidthsInTheTrace) {
  const std::string path = std::string(kGolden) + "gpu/rank1.5.pt.trace.json";
  const SeenTrace trace = read_seen(path);

  const Rows rows = rows_of(summary_json({"--comms", path}), "comms", "comms");

  const auto kernels = trace.calls("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(kernels.size(), 3u);
  for (const SeenEvent* kernel : kernels) {
    EXPECT_NEAR(std::stod(rows[0].at("algorithm_gb_per_s")), std::stod(kernel->args.at("algorithm bandwidth (GB/s)")),
                0.001);
    EXPECT_NEAR(std::stod(rows[0].at("bus_gb_per_s")), std::stod(kernel->args.at("bus bandwidth (GB/s)")), 0.001);
  }
}

TEST(SummaryViews, PrintOneAfterAnotherInEveryForm) {
  const std::string path = std::string(kGolden) + "gpu/rank1.5.pt.trace.json";

  const Outcome text = profshim({"summary", "--table", "--kernels", "--steps", "--row-limit", "2", path});
  const Outcome csv = profshim({"summary", "--csv", "--kernels", "--mpi", path});
  const auto json = summary_json({"--table", "--kernels", "--mpi", path});

  EXPECT_EQ(text.ending(), "exit 0") << text.err;
  const std::size_t table = text.out.find("# of Calls"), kernels = text.out.find("\nDevice activity\n"),
                    steps = text.out.find("\nSteps\n");
  EXPECT_TRUE(table < kernels && kernels < steps && steps != std::string::npos) << text.out;
  EXPECT_NE(text.out.find("Device activity: 2 of "), std::string::npos) << text.out;
  EXPECT_EQ(csv.out.rfind("rank,name,kind,count,total_us,", 0), 0u) << csv.out;
  EXPECT_NE(csv.out.find("\n\nrank,function,calls,"), std::string::npos) << csv.out;
  EXPECT_EQ(rows_of(json, "table", "rows").size(), 26u);
  EXPECT_FALSE(rows_of(json, "kernels", "kernels").empty());
  EXPECT_EQ(std::string(json["mpi"]["notes"][0].GetString()), "No MPI calls");
}

TEST(SummaryViews, ReportUnreadableFilesInOneLine) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("text.json", "hello\n");

  const Outcome outcome = profshim({"summary", "--kernels", path});

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
