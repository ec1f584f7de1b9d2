// The report's page.js sets attributes of <html>: the number of plots and the errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/browser.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr char kGolden[] = PROFSHIM_SOURCE_DIR "/tests/golden/traces/";
constexpr char kGpuTrace[] = PROFSHIM_SOURCE_DIR "/tests/golden/gpu/rank1.5.pt.trace.json";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr int kSlow = 2;

std::string record_slow_rank(const ScratchFolder& scratch) {
  Job job = mpirun(Mpi::kOpenMpi, 4, {built("tests/apps/openmpi/slow_rank"), std::to_string(kSlow), "30", "20"});
  job.folder = scratch.path();
  job.environment.emplace_back(
      "PROFSHIM_SPEC", scratch.write("spec.toml",
                                     "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\n"
                                     "pattern = \"MPI_Allreduce\"\n[schedule]\nskip_first = 2\nactive = 25\n"
                                     "[output]\nfolder = \"" +
                                         scratch / "traces" + "\"\n"));
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return scratch / "traces";
}

TEST(Report, NamesTheSlowRankOfAnMpiJobInABrowser) {
  NEEDS_BROWSER();
  const ScratchFolder scratch;
  const std::string traces = record_slow_rank(scratch), page = scratch / "report.html";

  const Outcome made = profshim({"report", traces, "-o", page});

  ASSERT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_EQ(made.err, "");
  EXPECT_TRUE(made.out.starts_with("Rank 2 came last at ")) << made.out;
  const std::string dom = opened(scratch, page);
  EXPECT_TRUE(holds(root_of(dom), "data-drawn=\"3\"")) << root_of(dom);
  EXPECT_FALSE(holds(root_of(dom), "data-errors")) << root_of(dom);
  EXPECT_TRUE(holds(dom, "<span>Rank 2 came last at ")) << made.out;
  EXPECT_TRUE(holds(dom, "<h2>Clocks</h2>"));
  EXPECT_LT(std::filesystem::file_size(page), 400'000u);
}

TEST(Report, IsTheSameForAMergedTrace) {
  const ScratchFolder scratch;
  const std::string merged = scratch / "all.pt.trace.json.gz";
  ASSERT_EQ(profshim({"merge", record_slow_rank(scratch), "-o", merged}).ending(), "exit 0");

  const Outcome ranks = profshim({"report", scratch / "traces", "-o", scratch / "ranks.html"}),
                one = profshim({"report", merged, "-o", scratch / "one.html"});

  ASSERT_EQ(one.ending(), "exit 0") << one.err;
  const auto verdict = [](const Outcome& outcome) { return outcome.out.substr(0, outcome.out.rfind('/')); };
  EXPECT_TRUE(one.out.starts_with("Rank 2 came last at ")) << one.out;
  EXPECT_TRUE(holds(one.out, "No recorded event was lost")) << one.out;
  EXPECT_EQ(verdict(one), verdict(ranks));
}

TEST(Report, ShowsTracesOfPyTorchItselfInABrowser) {
  NEEDS_BROWSER();
  const ScratchFolder scratch;
  const std::string page = scratch / "report.html";

  const Outcome made = profshim({"report", std::string(kGolden) + "hta-ddp-nccl-3steps.json.gz", "-o", page});

  ASSERT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_TRUE(holds(made.out, "Traces of 1 of 2 ranks")) << made.out;
  EXPECT_TRUE(holds(made.out, "Most device time: ncclKernel_AllReduce_RING_LL_Sum_float")) << made.out;
  const std::string dom = opened(scratch, page);
  EXPECT_TRUE(holds(root_of(dom), "data-drawn=\"2\"")) << root_of(dom);
  EXPECT_FALSE(holds(root_of(dom), "data-errors")) << root_of(dom);
}

/// Returns the labels at the axes in a browser whose default locale is `locale`. The page's nonce lets the scripts run.
std::string axis_labels(const ScratchFolder& scratch, std::string page, const std::string& locale) {
  const std::size_t at = page.find("'nonce-") + 7;
  const std::string script = "<script nonce=\"" + page.substr(at, page.find('\'', at) - at) + "\">";
  page.insert(page.find("<body>"), script + "Intl.NumberFormat = ((N) => function (l, o) { return new N(l ?? '" +
                                       locale + "', o); })(Intl.NumberFormat);</script>");
  page.insert(page.rfind("</body>"),
              script +
                  "document.documentElement.dataset.labels = Object.values(Chart.instances).flatMap((chart) => "
                  "Object.values(chart.scales).flatMap((scale) => scale.ticks.map((tick) => tick.label))).join('|');"
                  "</script>");
  const std::string root = root_of(opened(scratch, scratch.write(locale + ".html", page)));
  const std::size_t labels = root.find("data-labels=\"");
  return labels == std::string::npos ? root : root.substr(labels, root.find('"', labels + 13) - labels);
}

TEST(Report, AxesHaveTheSameNumbersInEveryBrowser) {
  NEEDS_BROWSER();
  const ScratchFolder scratch;
  const std::string file = scratch / "report.html";
  ASSERT_EQ(profshim({"report", kGpuTrace, "-o", file}).ending(), "exit 0");

  const std::string labels = axis_labels(scratch, text_of_file(file), "en");

  EXPECT_TRUE(holds(labels, "0.1|")) << labels;
  EXPECT_EQ(axis_labels(scratch, text_of_file(file), "de"), labels);
}

TEST(Report, ReadsEveryPyTorchSample) {
  for (const char* const name : {"hta-cuda-event-sync-multistream", "tracelens-b200-8gpu-rank0"}) {
    const ScratchFolder scratch;
    const Outcome made = profshim({"report", kGolden + std::string(name) + ".json.gz", "-o", scratch / "report.html"});

    EXPECT_EQ(made.ending(), "exit 0") << made.err;
    EXPECT_EQ(made.err, "");
    EXPECT_TRUE(holds(made.out, "Devices are busy for ")) << made.out;
  }
}

TEST(Report, ShowsARealTrainingOfTwoRanks) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  ASSERT_EQ(run(torch_job(scratch, Launch::kTwoRanks, "train_ddp.py")).ending(), "exit 0");

  const Outcome made = profshim({"report", scratch / "traces", "-o", scratch / "report.html"});

  EXPECT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_TRUE(holds(made.out, "A step takes ")) << made.out;
  EXPECT_TRUE(holds(made.out, "No recorded event was lost.")) << made.out;
  EXPECT_TRUE(holds(text_of_file(scratch / "report.html"), "autograd::engine::evaluate_function"));
}

// The traced program chooses the names, which may contain HTML.
TEST(Report, NamesDoNotRunAsScriptsInABrowser) {
  NEEDS_BROWSER();
  const ScratchFolder scratch;
  const std::string name =
      R"(</script><script>document.documentElement.dataset.taken=1</script>)"
      R"(<img src=http://127.0.0.1:9/x onerror=document.documentElement.dataset.taken=1>' \" & \u0007\u202e)";
  std::string events;
  for (int rank = 0; rank < 2; ++rank) {
    events = "";
    for (int i = 0; i < 3; ++i) {
      events += std::string(i > 0 ? "," : "") + R"({"ph": "X", "cat": "cpu_op", "name": "MPI_Barrier)" + name +
                R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(100 * i + 50 * rank) + R"(, "dur": )" +
                std::to_string(60 - 50 * rank) + R"(, "args": {"comm": ")" + name + R"(", "comm id": "fe", "Seq": )" +
                std::to_string(i) + "}}";
      events += R"(,{"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
                std::to_string(100 * i) + R"(, "dur": 10, "args": {}})";
    }
    scratch.write("rank" + std::to_string(rank) + ".pt.trace.json",
                  R"({"distributedInfo": {"rank": )" + std::to_string(rank) + R"(, "world_size": 2}, "host_name": ")" +
                      name + R"(", "profshim": {"run_name": ")" + name + R"(", "command": ")" + name +
                      R"(", "problems": [{"source": "x", "lost": ")" + name + R"("}]}, "traceEvents": [)" + events +
                      "]}");
  }
  const std::string page = scratch / "report.html";

  const Outcome made = profshim({"report", scratch.path(), "-o", page});

  ASSERT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_FALSE(holds(made.out, "\a"));
  const std::string dom = opened(scratch, page);
  EXPECT_TRUE(holds(root_of(dom), "data-drawn=\"2\"")) << root_of(dom);
  EXPECT_FALSE(holds(root_of(dom), "data-errors")) << root_of(dom);
  EXPECT_FALSE(holds(root_of(dom), "data-taken")) << root_of(dom);
  EXPECT_FALSE(holds(dom, "<img"));
  EXPECT_TRUE(holds(dom, "1 problem of the recording: &lt;/script&gt;")) << made.out;
}

TEST(Report, BadInputGivesOneLineAndExitStatusTwo) {
  const ScratchFolder scratch;
  const std::string sample = text_of_file(std::string(kGolden) + "hta-ddp-nccl-3steps.json.gz"),
                    job = scratch / "b.json";
  scratch.write("b.json", R"({"distributedInfo": {"rank": 1, "world_size": 4}, "traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})");
  const struct {
    std::string name, bytes, says;
  } cases[] = {{"text.json", "hello", "byte 0"},
               {"empty.json", "", "ends early"},
               {"none.json", R"({"traceEvents": []})", "no events"},
               {"nul.json", R"({"traceEvents": [{"ph": "X", "name": "a", "ts": nul, "dur": 1}]})", "byte "},
               {"long.json", "\"" + std::string(10'000'000, 'a') + "\"", "neither a JSON object nor a list of events"},
               {"cut.gz", sample.substr(0, 200), "cut.gz"},
               {"other.json.gz", sample, "name the traces of one job"}};
  for (const auto& one : cases) {
    const std::string page = scratch / (one.name + ".html");
    const Outcome made = profshim({"report", scratch.write(one.name, one.bytes), job, "-o", page});

    EXPECT_EQ(made.ending(), "exit 2") << one.name;
    EXPECT_TRUE(holds(made.err, one.says)) << made.err;
    EXPECT_EQ(std::count(made.err.begin(), made.err.end(), '\n'), 1) << made.err;
    EXPECT_FALSE(std::filesystem::exists(page)) << one.name;
  }
}

TEST(Report, ShowsTheReadablePartOfATruncatedTrace) {
  const ScratchFolder scratch;
  const std::string sample = text_of_file(std::string(kGolden) + "hta-ddp-nccl-3steps.json.gz"),
                    page = scratch / "r.html";

  const Outcome made = profshim({"report", scratch.write("cut.json.gz", sample.substr(0, 300'000)), "-o", page});

  EXPECT_EQ(made.ending(), "exit 2");
  EXPECT_TRUE(holds(made.err, "cut off")) << made.err;
  EXPECT_TRUE(holds(made.out, "The trace of rank 0 ends early")) << made.out;
  EXPECT_TRUE(holds(text_of_file(page), "the file ends early"));
}

TEST(Report, IsWrittenToTheCurrentFolderByDefault) {
  const ScratchFolder scratch;
  const std::string trace = std::string(kGolden) + "hta-cuda-event-sync-multistream.json.gz";

  const Outcome made =
      run({.command = {tool_path(), "report", "-q", trace}, .folder = scratch.path(), .preload = false});

  EXPECT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_EQ(made.out + made.err, "");
  EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{"profshim-report.html"});
}

TEST(Report, SaysWhatATraceWithoutDurationsHolds) {
  const ScratchFolder scratch;
  const std::string trace = scratch.write("a.json", R"({"traceEvents": [{"ph": "i", "ts": 1}, {"ph": "C", "ts": 2}]})");

  const Outcome made = profshim({"report", trace, "-o", scratch / "page.html"});

  EXPECT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_NE(
      text_of_file(scratch / "page.html").find("none of its 2 events has a duration (1 instant, 1 counter value)."),
      std::string::npos);
}

TEST(Report, NeverOverwritesATrace) {
  const ScratchFolder scratch;
  const std::string trace = scratch / "a.json.gz";
  std::filesystem::copy_file(std::string(kGolden) + "hta-cuda-event-sync-multistream.json.gz", trace);
  const std::string before = text_of_file(trace);

  const Outcome made = profshim({"report", trace, "-o", trace});

  EXPECT_EQ(made.ending(), "exit 2");
  EXPECT_EQ(text_of_file(trace), before);
}

}  // namespace
}  // namespace profshim::e2e
