// Every spec, command line and query of the manuals and READMEs is run as it stands, and so are the examples for a CI.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/consumers/readers.h"
#include "e2e/support/built_programs.h"
#include "e2e/support/machine/killed_jobs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string where;  // "src/spec/spec.scd:14"
  std::vector<std::string> lines;
};

std::string trimmed(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// Returns the literal blocks of a man page or a README.
std::vector<Block> blocks_of(const fs::path& file) {
  std::vector<Block> blocks;
  std::ifstream in(file);
  bool literal = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (trimmed(line).starts_with("```")) {
      literal = !literal;
      const std::string name = fs::relative(file, PROFSHIM_SOURCE_DIR).string();
      if (literal) blocks.push_back({name + ":" + std::to_string(number), {}});
    } else if (literal) {
      blocks.back().lines.push_back(line);
    }
  }
  EXPECT_FALSE(literal) << file << " ends in a block";
  return blocks;
}

std::vector<Block> all_blocks() {
  std::vector<fs::path> files;
  for (const char* folder : {"", "inject", "tests", "tests/bench"})
    files.push_back(fs::path(PROFSHIM_SOURCE_DIR) / folder / "README.md");
  for (const auto& entry : fs::recursive_directory_iterator(PROFSHIM_SOURCE_DIR "/src"))
    if (entry.path().extension() == ".scd") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Block> all;
  for (const fs::path& file : files) {
    for (Block& block : blocks_of(file)) all.push_back(std::move(block));
  }
  return all;
}

bool is_spec(const Block& block) {
  const auto is_head = [](const std::string& line) { return line.starts_with("version =") || line.starts_with('['); };
  return std::any_of(block.lines.begin(), block.lines.end(), is_head);
}

/// Returns the commands of a block, each with its continuation lines. scdoc(5) writes a backslash twice.
std::vector<std::string> commands_of(const Block& block) {
  std::vector<std::string> commands;
  bool goes_on = false;
  for (std::string line : block.lines) {
    for (std::size_t at = 0; (at = line.find("\\\\", at)) != std::string::npos; ++at) line.erase(at, 1);
    const std::string first = line.substr(0, line.find_first_of(" ="));
    const bool begins =
        first == "profshim" || first == "LD_PRELOAD" || first == "mpirun" || first == "mpiexec" || first == "srun";
    if (goes_on) commands.back() += "\n" + line;
    if (!goes_on && begins) commands.push_back(line);
    goes_on = (goes_on || begins) && line.ends_with('\\');
  }
  return commands;
}

/// Returns the SQL of a block, or "".
std::string query_of(const Block& block) {
  std::string text;
  for (const std::string& line : block.lines) text += line + "\n";
  return text.starts_with("SELECT ") || text.starts_with("CREATE ") ? text : "";
}

/// Returns the command lines of `tool` in a file of a CI, also those in its comments.
std::vector<std::string> commands_in_ci(const fs::path& file) {
  std::vector<std::string> commands;
  std::ifstream in(file);
  bool goes_on = false;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = std::min(line.find("profshim/build/profshim "), line.find("profshim compare "));
    if (goes_on) commands.back() += "\n" + line;
    if (!goes_on && at != std::string::npos) commands.push_back(line.substr(at));
    goes_on = (goes_on || at != std::string::npos) && line.ends_with('\\');
  }
  return commands;
}

/// Replaces each `from`.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(Manuals, EverySpecIsValid) {
  const ScratchFolder scratch;
  int specs = 0;
  for (const Block& block : all_blocks()) {
    if (!is_spec(block)) continue;
    std::string text;
    for (const std::string& line : block.lines) text += line + "\n";
    if (text.find("version =") == std::string::npos) text = "version = 1\n" + text;
    // A rule of [check] may name a phase of another block.
    if (text.find("phase = \"actor\"") != std::string::npos) text += "[[phase]]\nname = \"actor\"\nnvtx = \"actor*\"\n";

    const Outcome check = profshim({"check", scratch.write("run.toml", text)});

    EXPECT_EQ(check.ending(), "exit 0") << block.where << "\n" << text << check.err;
    ++specs;
  }
  EXPECT_GE(specs, 10);
}

TEST(Manuals, ASpecIsPrintedAsItIsWritten) {
  std::string pages;
  for (const char* page : {"spec", "profshim", "run"}) pages += profshim({"help", page}).out;

  EXPECT_NE(pages.find("pattern = \"iteration *\"\n"), std::string::npos);
  EXPECT_NE(pages.find("-x PROFSHIM_SPEC \\\n"), std::string::npos);
  EXPECT_EQ(pages.find("\\*"), std::string::npos);
  EXPECT_EQ(pages.find("\\\\"), std::string::npos);
}

/// A folder with all that the command lines of the manuals name.
class Workplace {
 public:
  Workplace() {
    program("heat", "exec '" + built("tests/apps/openmpi/steps_loop") + "' 60 1000");
    program("solver", "if [ -n \"$OMPI_COMM_WORLD_RANK\" ]; then exec ./heat; fi\nexec '" +
                          built("tests/apps/mpich/steps_loop") + "' 60 1000");
    fs::create_symlink("heat", scratch_ / "your_program");
    program("train.sh", "exec mpirun -n 2 ./heat");
    program("bin/mpirun", "exec mpirun.openmpi --oversubscribe --bind-to none \"$@\"");
    program("bin/mpiexec", "exec mpirun.mpich \"$@\"");
    // As srun(1) says, "--export=ALL,NAME=VALUE" adds to the environment of the caller.
    program("bin/srun",
            "for setting in $(echo \"$1\" | sed 's/--export=ALL,//; s/,/ /g'); do export \"$setting\"; done\n"
            "shift; exec mpirun \"$@\"");
    program("bin/torchrun", "exec '" + torch_python() + "' -m torch.distributed.run \"$@\"");
    fs::create_directory_symlink(fs::path(tool_path()).parent_path(), scratch_ / "build");
    fs::create_symlink(tool_path(), scratch_ / "bin/profshim");
    scratch_.write("train.py",
                   "import os, torch\nmodel = torch.nn.Linear(4, 4)\n"
                   "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                   "for _ in range(60):\n"
                   "    optimizer.zero_grad(); model(torch.ones(2, 4)).sum().backward(); optimizer.step()\n");
    renew_spec();
    scratch_.write("ci.toml",
                   "version = 1\n[check]\ncomplete = true\n[[check.rule]]\nmetric = \"calls_per_step\"\n"
                   "name = \"MPI_Allreduce\"\nmax = 1\n");
    record();
    for (const char* name : {"good-run-1", "good-run-2", "good-run-3", "new-run", "profshim/heat-20261121-101502-4711"})
      fs::copy(scratch_ / "profshim/my-run", scratch_ / name, fs::copy_options::recursive);
  }

  Outcome run(const std::string& command) const {
    Job job = shell("export PATH=\"$PWD/bin:$PATH\"\n" + replaced(command, "LIB", shim_path()));
    job.folder = scratch_.path();
    job.preload = false;
    for (const Mpi mpi : installed_mpis()) {
      for (const auto& variable : mpirun(mpi, 1, {}).environment) job.environment.push_back(variable);
    }
    return e2e::run(job);
  }

  /// Some commands write a spec, and do not replace one.
  void renew_spec() const {
    scratch_.write("run.toml", "version = 1\n[steps]\nsource = \"collective\"\npattern = \"MPI_Barrier\"\n");
  }
  void remove_spec() const { fs::remove(scratch_ / "run.toml"); }

  /// Gives the trace of rank 0 memory events of PyTorch's allocator, or takes them away again.
  void has_memory_events(bool has) const {
    const std::string trace = "profshim/my-run/step11/rank0.11.pt.trace.json";
    const std::string args =
        R"({"Addr": 1, "Bytes": 64, "Total Allocated": 64, "Total Reserved": 0, "Device Type": 0, "Device Id": -1})";
    if (has) {
      scratch_.write(trace,
                     R"({"traceEvents": [{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1,
                               "tid": 1, "ts": 5, "args": )" +
                         args + "}]}");
    } else {
      fs::copy_file(scratch_ / "good-run-1/step11/rank0.11.pt.trace.json", scratch_ / trace,
                    fs::copy_options::overwrite_existing);
    }
  }

  /// Returns the spool that a killed job has left.
  std::string left_spool() const {
    const std::string folder = scratch_ / "killed";
    EXPECT_TRUE(run_until(endless(scratch_, "killed", record_all_spec(folder)), [&] { return records(folder); }));
    const std::vector<std::string> left = spools();
    EXPECT_EQ(left.size(), 1u);
    return left.empty() ? "" : left.front();
  }

  /// Runs a query on parts/, which `profshim convert` has written. DuckDB also runs what is written for Spark, and for
  /// Perfetto with an empty table.
  Outcome ask(const std::string& query) const {
    scratch_.write("query.py",
                   "import duckdb, sys\n"
                   "parts = \"(select * from read_parquet('parts/*/*.parquet', hive_partitioning = true))\"\n"
                   "duckdb.execute('create table slice (name varchar, dur bigint, category varchar)')\n"
                   "query = sys.argv[1].replace(\"USING parquet OPTIONS (path 'parts')\", 'AS FROM ' + parts)\n"
                   "duckdb.execute(query).fetchall()\n");
    scratch_.write("query.sql", query);
    return run("'" + readers_python() + "' query.py \"$(cat query.sql)\"");
  }

  /// The files that a job in a CI finds: its program, its spec, and profshim in a folder.
  void check_out() const {
    program("job/heat", "exec '" PROFSHIM_SOURCE_DIR "/build/demo/heat' \"$2\"");
    fs::create_directories(scratch_ / "job/ci");
    fs::create_directories(scratch_ / "job/profshim");
    fs::copy_file(PROFSHIM_SOURCE_DIR "/config/examples/ci.toml", scratch_ / "job/ci/ci.toml");
    fs::create_directory_symlink(fs::path(tool_path()).parent_path(), scratch_ / "job/profshim/build");
  }
  bool exists(const std::string& name) const { return fs::exists(scratch_ / name); }

  /// Counts the files of traces.
  int traces() const {
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch_ / "profshim"))
      count += entry.path().string().find(".pt.trace.json") != std::string::npos ? 1 : 0;
    return count;
  }

 private:
  void program(const std::string& name, const std::string& script) const {
    fs::create_directories((fs::path(scratch_ / name)).parent_path());
    scratch_.write(name, "#!/bin/bash\n" + script + "\n");
    fs::permissions(scratch_ / name, fs::perms::owner_all);
  }

  void record() {
    const Outcome outcome =
        run("profshim run -s run.toml --ranks all --set output.gzip=false --set output.folder=profshim/my-run --set "
            "schedule.skip_first=10 -- mpirun -n 2 ./heat");
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_TRUE(fs::exists(scratch_ / "profshim/my-run/step11/rank0.11.pt.trace.json")) << outcome.err;
    EXPECT_EQ(run("profshim merge -q profshim/my-run/step11 -o merged.pt.trace.json.gz").ending(), "exit 0");
  }

  ScratchFolder scratch_;
};

bool is_of_torchrun(const std::string& command) { return command.find("torchrun") != std::string::npos; }

/// Returns the number of commands.
int run_commands(bool of_torchrun) {
  const Workplace workplace;
  int commands = 0;
  for (const Block& block : all_blocks()) {
    workplace.renew_spec();
    for (std::string command : commands_of(block)) {
      if (is_of_torchrun(command) != of_torchrun) continue;
      if (command.starts_with("profshim init") || command.starts_with("profshim keys")) workplace.remove_spec();
      workplace.has_memory_events(command.starts_with("profshim report --memory"));
      if (const std::size_t spool = command.find("/dev/shm/profshim-"); spool != std::string::npos)
        command.replace(spool, std::string::npos, workplace.left_spool());
      // Only the Python of the readers has pyarrow.
      if (command.find(" -o parts/") != std::string::npos) command += " --python " + readers_python();
      // Eight processes with PyTorch take long on a small machine.
      command = replaced(command, "--nproc_per_node 8", "--nproc_per_node 2");
      const bool is_job =
          command.find(" -n ") != std::string::npos || of_torchrun || command.find("train.sh") != std::string::npos;
      const bool records = is_job && !command.starts_with("profshim doctor") && !command.starts_with("profshim init");
      const int before = workplace.traces();

      const Outcome outcome = workplace.run(command);

      EXPECT_EQ(outcome.ending(), "exit 0") << block.where << "\n" << command << "\n" << outcome.out << outcome.err;
      if (records) {
        EXPECT_GT(workplace.traces(), before) << block.where << "\n" << command << "\n" << outcome.out << outcome.err;
      }
      ++commands;
    }
    const std::string query = query_of(block);
    if (!query.empty() && !of_torchrun) {
      const Outcome outcome = workplace.ask(query);
      EXPECT_EQ(outcome.ending(), "exit 0") << block.where << "\n" << query << outcome.err;
    }
  }
  return commands;
}

TEST(Manuals, EveryCommandLineWorks) { EXPECT_GE(run_commands(false), 25); }

TEST(Manuals, TheExamplesForACiWork) {
  for (const char* name : {"github-action.yml", "gitlab.yml"}) {
    SCOPED_TRACE(name);
    const Workplace workplace;
    workplace.check_out();
    std::string record, baseline, compare;
    for (const std::string& command : commands_in_ci(fs::path(PROFSHIM_SOURCE_DIR "/config/examples/ci") / name)) {
      const bool makes_baseline = command.find("--update-baseline") != std::string::npos;
      (makes_baseline ? baseline : command.find(" run ") != std::string::npos ? record : compare) += command;
    }
    for (const std::string& command :
         {record, "for run in run1 run2 run3; do cp -r profile-out $run; done\n" + baseline, compare}) {
      const Outcome outcome = workplace.run("cd job\n" + command);
      EXPECT_EQ(outcome.ending(), "exit 0") << command << "\n" << outcome.out << outcome.err;
    }
    EXPECT_TRUE(workplace.exists("job/profile.md"));
    EXPECT_TRUE(workplace.exists("job/profile.xml"));
  }
}

// Debian's PyTorch 1.13 cannot run torchrun with Python 3.11.
TEST(TorchManuals, CommandLinesOfTorchrunWork) {
  NEEDS_TORCH(2);
  EXPECT_GE(run_commands(true), 1);
}

}  // namespace
}  // namespace profshim::e2e
