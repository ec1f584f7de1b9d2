#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "e2e/consumers/readers.h"
#include "e2e/support/built_programs.h"
#include "e2e/support/machine/locales.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

const char* const kSamples[] = {"hta-ddp-nccl-3steps", "tracelens-b200-8gpu-rank0", "hta-cuda-event-sync-multistream"};

std::string sample(const std::string& name) { return PROFSHIM_SOURCE_DIR "/tests/golden/traces/" + name + ".json.gz"; }

Outcome parquet(std::vector<std::string> inputs, const std::string& out) {
  inputs.insert(inputs.begin(), {"convert", "-o", out, "--python", readers_python()});
  return profshim(inputs);
}

std::string merged_gpu_ranks(const ScratchFolder& scratch) {
  Job job{.command = {PROFSHIM_BUILD_DIR "/tests/apps_trace/gpu_ranks", scratch / "ranks"}, .preload = false};
  std::filesystem::create_directory(scratch / "ranks");
  EXPECT_EQ(run(job).ending(), "exit 0");
  const std::string merged = scratch / "merged.0.pt.trace.json";
  std::vector<std::string> merge = {"merge", "-q", "-o", merged};
  for (const std::string& path : traces_below(scratch / "ranks")) merge.push_back(path);
  EXPECT_EQ(profshim(merge).ending(), "exit 0");
  return merged;
}

TEST(Convert, PerfettoFormatHoldsTheSameAsTheJson) {
  const ScratchFolder scratch;
  std::vector<std::string> traces = {merged_gpu_ranks(scratch)};
  for (const char* name : kSamples) traces.push_back(sample(name));
  std::vector<std::string> twins;
  for (const std::string& trace : traces) {
    twins.insert(twins.end(), {trace, scratch / (std::to_string(twins.size()) + ".pftrace")});
    const Outcome made = profshim({"convert", trace, "-o", twins.back()});
    ASSERT_EQ(made.ending(), "exit 0") << made.err;
  }
  const Outcome outcome = ask_reader("perfetto_twins.py", twins);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST(Convert, EveryEventIsARowInParquet) {
  const ScratchFolder scratch;
  std::vector<std::string> traces = {merged_gpu_ranks(scratch)};
  for (const char* name : kSamples) traces.push_back(sample(name));
  const std::string out = scratch / "all.parquet";

  const Outcome made = parquet(traces, out);

  ASSERT_EQ(made.ending(), "exit 0") << made.err;
  std::vector<std::string> arguments = {out};
  arguments.insert(arguments.end(), traces.begin(), traces.end());
  const Outcome outcome = ask_reader("parquet_with_duckdb.py", arguments);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST(Convert, FileNamesOfParquetDoNotFollowTheLocale) {
  const ScratchFolder scratch;
  Job job{.command = {tool_path(), "convert", sample(kSamples[0]), "-o", scratch / "größe.parquet", "--python",
                      readers_python()},
          .environment = in_locale("fr_FR.ISO-8859-1"),
          .preload = false};

  const Outcome made = run(job);

  EXPECT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{"größe.parquet"});
}

// sums_with_duckdb.py runs the documentation's queries.
TEST(Convert, DuckDbSumsEqualThoseOfSummary) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 4, {built("tests/apps/openmpi/ring_isend"), "20"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  ASSERT_EQ(run(job).ending(), "exit 0");
  const std::string gpu = sample("hta-ddp-nccl-3steps");
  ASSERT_EQ(parquet({scratch / "traces", gpu}, scratch / "parts/").ending(), "exit 0");
  scratch.write("mpi.json", profshim({"summary", "--mpi", "--json", scratch / "traces"}).out);
  scratch.write("kernels.json", profshim({"summary", "--kernels", "--json", gpu}).out);

  const Outcome outcome =
      ask_reader("sums_with_duckdb.py", {scratch / "parts", scratch / "mpi.json", scratch / "kernels.json"});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_TRUE(std::filesystem::is_directory(scratch / ("parts/rank=" + std::to_string(rank)))) << rank;
}

// Parquet readers take the rank from the folder name, but a merged trace has several ranks.
TEST(Convert, MergedTraceIsRefusedForAFolderOfRanks) {
  const ScratchFolder scratch;
  const std::string merged = merged_gpu_ranks(scratch);

  const Outcome outcome = parquet({merged}, scratch / "parts/");

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_NE(outcome.err.find(merged + ": a merged trace has several ranks"), std::string::npos) << outcome.err;
  EXPECT_EQ(parquet({merged}, scratch / "all.parquet").ending(), "exit 0");
}

TEST(Convert, BadInputGivesOneLineAndNoFile) {
  const ScratchFolder scratch;
  const std::string huge(10 << 20, 'x'), event = R"({"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":5,"dur":)";
  const std::string good = scratch.write("good.json", "{\"traceEvents\": [" + event + "1}]}");
  const std::string cut_gz = scratch.write("cut.json.gz", text_of_file(sample(kSamples[0])).substr(0, 12));
  std::filesystem::create_directory(scratch / "out");
  const struct {
    std::vector<std::string> inputs;
    const char* says;
  } kCases[] = {
      {{cut_gz}, "cut.json.gz"},
      {{scratch.write("no.json", "hello")}, "no.json: byte"},
      {{scratch.write("none.json", "{\"traceEvents\": []}")}, "none.json: no events in it"},
      {{scratch.write("huge.json", huge)}, "huge.json: byte"},
      {{scratch.write("nul.json", "{\"traceEvents\": [" + event + "nul}]}")}, "nul.json: byte"},
      {{scratch / "nowhere.json"}, "nowhere.json: no such file"},
  };
  for (const char* ending : {"x.pftrace", "x.parquet", "x/"}) {
    for (const auto& row : kCases) {
      const Outcome outcome = parquet(row.inputs, scratch / ("out/" + std::string(ending)));
      EXPECT_EQ(outcome.ending(), "exit 2") << row.says;
      EXPECT_NE(outcome.err.find(row.says), std::string::npos) << outcome.err;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      for (const std::string& left : files_below(scratch / "out"))
        EXPECT_TRUE(std::filesystem::is_directory(scratch / ("out/" + left))) << left;
    }
  }
  for (const char* out : {"/nowhere/x.pftrace", "/nowhere/x.parquet"}) {
    const Outcome outcome = parquet({good}, out);
    EXPECT_EQ(outcome.err,
              "profshim convert: " + std::string(out) + ": cannot be written: No such file or directory\n");
  }
  EXPECT_NE(profshim({"convert", good, good + "2", "-o", scratch / "x.pftrace"}).ending(), "exit 0");
  EXPECT_NE(profshim({"convert", good, sample(kSamples[0]), "-o", scratch / "x.pftrace"}).err.find("profshim merge"),
            std::string::npos);
  EXPECT_NE(profshim({"convert", good, "-o", scratch / "x.csv"}).err.find("must end in .pftrace"), std::string::npos);
}

TEST(Convert, ConvertsTheReadablePartOfATruncatedFile) {
  const ScratchFolder scratch;
  const std::string whole = text_of_file(sample(kSamples[0]));
  const std::string cut = scratch.write("cut.json.gz", whole.substr(0, whole.size() / 2));
  for (const char* out : {"x.pftrace", "x.parquet"}) {
    const Outcome outcome = parquet({cut}, scratch / out);
    EXPECT_EQ(outcome.ending(), "exit 2") << outcome.err;
    EXPECT_NE(outcome.err.find("cut off"), std::string::npos) << outcome.err;
    EXPECT_GT(std::filesystem::file_size(scratch / out), 100'000u);
  }
}

TEST(Convert, WithoutPyarrowOneLineSaysSo) {
  const ScratchFolder scratch;
  const std::string out = scratch / "x.parquet", dies = scratch.write("dies", "#!/bin/sh\nkill -9 $$\n");
  const std::string lacks = scratch.write("lacks", "#!/bin/sh\nexec " + readers_python() + " -S \"$@\"\n");
  for (const std::string& script : {dies, lacks})
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::pair<std::string, const char*> kCases[] = {
      {lacks, "has no pyarrow"}, {scratch / "none", "cannot start"}, {dies, "signal 9"}};
  for (const auto& [python, says] : kCases) {
    const Outcome outcome = profshim({"convert", sample(kSamples[2]), "-o", out, "--python", python});
    EXPECT_EQ(outcome.ending(), "exit 2") << says;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

}  // namespace
}  // namespace profshim::e2e
