// The keys that profshim promises, each with a value that is not its default: accepted, or refused with the reason.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "profshim/spec.h"

namespace profshim {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Line {
  const char* table;
  const char* text;
};
constexpr Line kAccepted[] = {
    {"include", "files = []"},
    {"include", "combine = \"union\""},
    {"profile", "enable = false"},
    {"profile", "run_name = \"mine\""},
    {"profile", "on_error = \"abort\""},
    {"profile", "conflict = \"refuse\""},
    {"profile", "log_level = \"debug\""},
    {"profile", "log = \"profshim.log\""},
    {"process", "require_any = [\"cuda\", \"nccl\"]"},
    {"process", "match = [\"*train*\"]"},
    {"process", "exclude = [\"*ptxas*\"]"},
    {"process", "role = \"actor\""},
    {"ranks", "select = \"0, node:1 & local:0, last\""},
    {"ranks", "source = \"mpi\""},
    {"ranks", "unknown = \"record\""},
    {"steps", "source = \"cuda_profiler_api\""},
    {"steps", "source = \"nvtx\"\npattern = \"step*\""},
    {"steps", "source = \"nvtx\"\npattern = \"step*\"\nedge = \"end\""},
    {"steps", "source = \"nvtx\"\npattern = \"step*\"\nevery = 2"},
    {"steps", "source = \"time\"\nevery_ms = 50"},
    {"steps", "min_interval_ms = 5"},
    {"steps", "source = \"nvtx\"\npattern = \"step*\"\nnumbering = \"absolute\""},
    {"steps", "first = 7"},
    {"steps", "source = \"nvtx\"\npattern = \"step*\"\nepoch = \"epoch*\""},
    {"schedule", "skip_first = 3"},
    {"schedule", "wait = 3"},
    {"schedule", "warmup = 3"},
    {"schedule", "active = 5"},
    {"schedule", "repeat = 3"},
    {"schedule", "skip_first_wait = 1"},
    {"schedule", "steps = [2, \"5-7\"]"},
    {"schedule", "continuous = false"},
    {"schedule", "per = \"run\""},
    {"schedule", "on_exit = \"discard\""},
    {"capture", "activities = [\"cpu\", \"mpi\"]"},
    {"capture", "record_shapes = true"},
    {"capture", "with_stack = true"},
    {"capture", "with_flops = true"},
    {"capture", "with_stack = true\nwith_modules = true"},
    {"capture", "profile_memory = true"},
    {"capture", "python_calls = true"},
    {"capture", "python_calls = true\npython_include = [\"*/train.py\"]"},
    {"capture", "python_calls = true\npython_exclude = [\"*/site-packages/*\"]"},
    {"capture", "stack_depth = 24"},
    {"capture", "include = [\"MPI_*\"]"},
    {"capture", "exclude = [\"Memset*\"]"},
    {"capture", "min_us = 3"},
    {"capture", "device_timing = \"host\""},
    {"limits", "host_memory = \"4GiB\""},
    {"limits", "window_seconds = 120"},
    {"limits", "trace_size = \"512MiB\""},
    {"limits", "total_traces = 5"},
    {"limits", "disk_free = \"20GiB\""},
    {"limits", "memory_entries = 100000"},
    {"limits", "on_limit = \"drop_old\""},
    {"output", "folder = \"/scratch/{run_name}\""},
    {"output", "filename = \"rank{rank}.{first_step}-{last_step}.pt.trace.json\""},
    {"output", "gzip = true"},
    {"output", "gzip_level = 6"},
    {"output", "overwrite = \"new\""},
    {"output", "num_traces_to_keep = 6"},
    {"output", "keep_bytes = \"1GiB\""},
    {"output", "export = [\"chrome_trace\", \"key_averages\"]"},
    {"output", "stacks_metric = \"self_device_time_total\""},
    {"output", "niceness = 19"},
    {"capture", "profile_memory = true\n[output]\nexport = [\"chrome_trace\", \"memory_timeline\"]"},
    {"summary", "kernels = false"},
    {"summary", "collectives = false"},
    {"summary", "table = [\"self_cuda_time_total\", \"cpu_time_total\"]"},
    {"summary", "row_limit = 5"},
    {"summary", "gap_us = 2000"},
    {"clock", "sync = \"anchors\""},
    {"system", "cpu = true"},
    {"system", "memory = true"},
    {"system", "disk = true"},
    {"system", "net = true"},
    {"system", "cpu = true\ninterval_seconds = 2.0"},
    {"finish", "command = \"true\""},
    {"finish", "command = \"true\"\nranks = \"local:0\""},
    {"finish", "command = \"true\"\ntimeout_seconds = 60"},
    {"check", "min_traces = 8"},
    {"check", "ranks = \"all\""},
    {"check", "complete = true"},
    {"[check.rule]", "metric = \"launches_per_step\"\nmax = 12"},
    {"[phase]", "name = \"rollout\"\nnvtx = \"*decode*\"\nmode = \"window\"\nranks = \"every:8\"\nmax_seconds = 20"},
    {"[phase]", "name = \"sync\"\nsymbol = \"sync_weights\""},
    {"[phase]", "name = \"softmax\"\nkernel = \"*log_softmax*\""},
    {"[phase]", "name = \"loader\"\nthread = \"loader*\""},
};

/// The hint says what to use instead.
constexpr Line kRefused[] = {
    {"process", "follow_fork = true"},
    {"merge", "at_exit = true"},
    {"ranks", "source = \"nccl\""},
    {"ranks", "select = \"tp:0\""},
    {"capture", "device_timing = \"events\""},
};

LoadedSpec load(const Line& line) {
  return load_spec_text("version = 1\n[" + std::string(line.table) + "]\n" + line.text + "\n", "x");
}

TEST(EveryKey, IsAccepted) {
  for (const Line& line : kAccepted) {
    const LoadedSpec loaded = load(line);
    EXPECT_TRUE(loaded.ok() && loaded.problems.empty()) << line.table << ": " << line.text << "\n"
                                                        << (loaded.problems.empty() ? "" : to_line(loaded.problems[0]));
  }
}

TEST(EveryKey, ChangesTheSpec) {
  // Processes of several roles have the same spec.
  const std::set<std::string> no_change = {"files = []", "combine = \"union\"", "per = \"run\"", "role = \"actor\""};
  const std::string standard = load_spec_text("version = 1\n", "x").spec.hash();
  for (const Line& line : kAccepted) {
    if (no_change.count(line.text) == 0) {
      EXPECT_NE(load(line).spec.hash(), standard) << line.text;
    }
  }
}

TEST(EveryKey, ThatSetsNothingIsAcceptedWithAWarning) {
  for (const Line& line : {Line{"process", "follow_fork = false"}, Line{"merge", "at_exit = false"},
                           Line{"output", "flush_seconds = 30"}}) {
    const LoadedSpec loaded = load(line);
    ASSERT_EQ(loaded.problems.size(), 1u) << line.text;
    EXPECT_TRUE(loaded.ok());
    const std::string said = to_line(loaded.problems[0]);
    EXPECT_NE(said.find("warning: changes nothing"), std::string::npos) << said;
    EXPECT_NE(said.find("leave this line out"), std::string::npos) << said;
    const std::string key =
        std::string(line.table) + "." + std::string(line.text).substr(0, std::string(line.text).find(' '));
    for (const KeyInfo& known : spec_keys()) EXPECT_NE(known.name, key);
    EXPECT_EQ(loaded.spec.hash(), load_spec_text("version = 1\n", "x").spec.hash());
  }
}

TEST(EveryKey, IsRefusedWithAnAlternative) {
  for (const Line& line : kRefused) {
    const LoadedSpec loaded = load(line);
    ASSERT_EQ(loaded.problems.size(), 1u) << line.text;
    EXPECT_FALSE(loaded.ok());
    EXPECT_NE(to_line(loaded.problems[0]).find(';'), std::string::npos) << to_line(loaded.problems[0]);
  }
}

TEST(ExampleSpecs, AreValid) {
  int specs = 0;
  for (const auto& file : std::filesystem::directory_iterator(PROFSHIM_SOURCE_DIR "/tests/golden/good_specs")) {
    const LoadedSpec loaded = load_spec_text(text_of(file.path()), file.path());
    EXPECT_TRUE(loaded.ok()) << to_line(loaded.problems.at(0));
    ++specs;
  }
  EXPECT_EQ(specs, 3);
}

}  // namespace
}  // namespace profshim
