// The example for pre-training under torchrun: two nodes of two ranks.
#include <gtest/gtest.h>

#include <set>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/torch_run.h"
#include "example_jobs.h"

namespace profshim::e2e {
namespace {

// Windows of a few milliseconds need more than two samples a second.
Replacements made_small(const ScratchFolder& scratch) {
  return {{"\"/scratch/", "\"" + (scratch / "scratch/")},
          {"skip_first = 100", "skip_first = 3"},
          {"wait = 4990", "wait = 2"},
          {"warmup = 5", "warmup = 1"},
          {"active = 5", "active = 2"},
          {"repeat = 3", "repeat = 8"},
          {"interval_seconds = 0.5", "interval_seconds = 0.01"},
          {"rsync -a \"$PROFSHIM_FOLDER\" storage:/traces/",
           "to=storage/node$PROFSHIM_NODE_RANK; mkdir -p $to && cp -r \"$PROFSHIM_FOLDER\"/* $to"}};
}

Job pretraining(const ScratchFolder& scratch, const std::string& arguments) {
  std::vector<Process> processes;
  for (int rank = 0; rank < 4; ++rank) processes.push_back({rank, 4, 2, "pretrain.py " + arguments});
  return python_job(scratch, write_example(scratch, "llm-pretraining.toml", made_small(scratch)), processes);
}

const std::string kFolder = "scratch/llama3-8b/torch_traces";

std::set<std::string> files_of_ranks(const std::string& folder) {
  std::set<std::string> names;
  for (const std::string& name : files_below(folder))
    if (name.starts_with("rank")) names.insert(name);
  return names;
}

std::set<std::string> expected_files(const std::vector<std::string>& windows) {
  std::set<std::string> names;
  for (const char* rank : {"rank0.", "rank2.", "rank3."}) {
    for (const std::string& window : windows) {
      for (const char* ending : {".pt.trace.json.gz", ".key_averages.txt", ".key_averages.csv"})
        names.insert(rank + window + ending);
    }
  }
  return names;
}

void expect_window(const SeenTrace& trace) {
  SCOPED_TRACE(trace.path);
  EXPECT_EQ(trace.property("complete"), "true");
  EXPECT_EQ(trace.property("problems"), "[]");
  EXPECT_EQ(trace.property("node_rank"), trace.rank() < 2 ? "0" : "1");
  EXPECT_TRUE(trace.metadata.contains("record_shapes"));
  EXPECT_EQ(trace.steps().size(), 2u);
  EXPECT_EQ(kernels_of(trace), (std::map<std::string, int>{{"forward_kernel", 8},
                                                           {"backward_kernel", 8},
                                                           {"optimizer_kernel", 2},
                                                           {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2}}));
  EXPECT_EQ(trace.calls("Optimizer.step#AdamW.step").size(), 2u);
  EXPECT_TRUE(trace.counts("gpu_memset").empty()) << "capture.exclude";
  EXPECT_EQ(json_member(trace.property("left_out"), "events"), "2");
}

TEST(ExampleOfPretraining, ThreeRanksKeepTheirSixNewestWindows) {
  NEEDS_NVTX();
  NEEDS_TORCH_FOR_CPU();
  const ScratchFolder scratch;

  const Outcome outcome = run(pretraining(scratch, "45"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(files_of_ranks(scratch / kFolder), expected_files({"14-15", "19-20", "24-25", "29-30", "34-35", "39-40"}))
      << outcome.err;
  std::map<std::string, int> samples;
  for (const SeenTrace& trace : read_folder(scratch / kFolder)) {
    expect_window(trace);
    for (const SeenEvent& event : trace.events) samples[event.name] += event.phase == "C";
  }
  for (const char* counter : {"process CPU", "process memory", "machine network received"})
    EXPECT_GT(samples[counter], 0) << counter;
  for (const char* table : {"by self_cuda_time_total: ", "by cpu_time_total: "}) {
    const std::size_t at = outcome.err.find(table);
    EXPECT_EQ(outcome.err.substr(0, at).rfind("steps 39-40 "), at - 12) << table << outcome.err;
    EXPECT_EQ(outcome.err.find(table, at + 1), std::string::npos) << "one rank prints " << table;
  }
  EXPECT_EQ(profshim({"verify", "--quiet", scratch / kFolder}).ending(), "exit 0");
}

TEST(ExampleOfPretraining, AResumedRunKeepsItsPhaseAndEachNodeUploads) {
  NEEDS_NVTX();
  NEEDS_TORCH_FOR_CPU();
  const ScratchFolder scratch;

  const Outcome outcome = run(pretraining(scratch, "13 16"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto expected = expected_files({"19-20", "24-25"});
  EXPECT_EQ(files_of_ranks(scratch / kFolder), expected) << outcome.err;
  for (int rank : {0, 2, 3}) {
    const std::string number = std::to_string(rank);
    const std::string manifest = text_of_file(scratch / (kFolder + "/manifest-rank" + number + ".json"));
    EXPECT_EQ(json_member(manifest, "finish"), rank == 3 ? "" : "succeeded")
        << text_of_file(scratch / (kFolder + "/finish-rank" + number + ".log"));
    const std::set<std::string> uploaded = files_of_ranks(scratch / ("storage/node" + std::to_string(rank / 2)));
    for (const std::string& name : expected)
      EXPECT_TRUE(!name.starts_with("rank" + number) || uploaded.contains(name)) << name;
  }
}

}  // namespace
}  // namespace profshim::e2e
