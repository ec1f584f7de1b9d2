// Runs real programs with and without the library preloaded, and reads back what it wrote. For the end-to-end tests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace profshim::e2e {

/// The library under test and the tool, as built.
std::string shim_path();
std::string tool_path();
/// A program that the build put under build/ ("tests/apps/openmpi/ring_isend"). The test fails when it is not there.
std::string built(const std::string& relative);
/// True when `name` is an executable on PATH.
bool on_path(const std::string& name);

/// A folder of its own, removed with everything in it at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file into it; returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

/// Every file, folder and link below `folder`, relative, sorted.
std::vector<std::string> files_below(const std::string& folder);
std::string text_of_file(const std::string& path);

/// One program to run. The environment is ours, plus `environment`; PROFSHIM_* of ours are not handed on.
struct Job {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;                 // working folder; "" = ours
  std::string input;                  // what it reads on stdin
  bool preload = true;                // LD_PRELOAD of the library
  double limit_seconds = 60;          // then SIGKILL to its process group
  std::function<void()> before_exec;  // in the child, after fork, before exec (limits, closed streams); no allocation
  std::function<void(int pid)> while_running;  // in the parent, once, right after the start
};

struct Outcome {
  std::string out, err;
  int exit_status = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  double seconds = 0;
  /// "exit 0", "signal 9", "timed out": for comparing and printing.
  std::string ending() const;
  /// Lines of stderr that the library wrote.
  std::vector<std::string> shim_lines() const;
};
Outcome run(const Job& job);
struct Both {
  Outcome without, with;
};
/// Without the library, then with it.
Both run_both(Job job);
/// Both have ended with exit status 0 and printed the same.
void expect_same(const Both& both);
/// /bin/bash -c TEXT
Job shell(const std::string& text);
/// The tool with these arguments, not under the library.
Outcome profshim(const std::vector<std::string>& arguments);

/// An event as a test looks at it. Arguments as text: numbers as written, lists as compact JSON.
struct SeenEvent {
  std::string phase, category, name;
  std::int64_t pid = 0, tid = 0, ts_ns = 0, duration_ns = 0, id = 0;
  std::map<std::string, std::string> args;
};
struct SeenTrace {
  std::string path;
  bool readable = false;
  std::string error;
  std::map<std::string, std::string> metadata;  // top-level keys, values as compact JSON
  std::vector<SeenEvent> events;

  int rank() const;  // distributedInfo.rank, -1 when it is not there
  /// Complete ("X") events of that name.
  std::vector<const SeenEvent*> calls(const std::string& name) const;
  /// How often each name occurs among the "X" events of category `category` ("" = all), the calls of "MPI polling" each
  /// under its own name.
  std::map<std::string, int> counts(const std::string& category = "") const;
  /// N of each ProfilerStep#N, in order of time.
  std::vector<std::int64_t> steps() const;
  /// The text of one member of the "profshim" object, "" when it has none.
  std::string fact(const std::string& key) const;
};
SeenTrace read_seen(const std::string& path);
/// All published traces below a folder (*.pt.trace.json, .gz), by path.
std::vector<SeenTrace> read_folder(const std::string& folder);
/// Paths of the same.
std::vector<std::string> traces_below(const std::string& folder);

/// The value of `key` in a flat JSON object, as text without quotes; "" when it is not there.
std::string json_member(const std::string& object, const std::string& key);

// ---- MPI
// -------------------------------------------------------------------------------------------------------------

enum class Mpi { kOpenMpi, kMpich };
std::string to_string(Mpi mpi);
/// mpirun of that implementation with `ranks` processes, whatever this machine's core count and whoever runs it.
Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command);
/// Those of the two that are installed; never empty, or the test that calls it fails.
std::vector<Mpi> installed_mpis();

/// Counts that the programs under tests/apps print themselves: {"rank":R,"function":"MPI_X","count":N} per line.
std::map<int, std::map<std::string, int>> printed_counts(const std::string& out);

/// A spec that records everything from MPI_Init to the end, on all ranks, into `folder`.
std::string record_all_spec(const std::string& folder);

}  // namespace profshim::e2e
