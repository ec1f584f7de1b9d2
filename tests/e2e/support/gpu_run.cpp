#include "gpu_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "answers/written_summary.h"
#include "built_programs.h"
#include "scratch_folder.h"
#include "seen_trace.h"

namespace profshim::e2e {
namespace {

std::map<std::string, long> read_printed(const std::string& out) {
  std::map<std::string, long> printed;
  std::istringstream lines(out);
  std::string name;
  long value = 0;
  while (lines >> name >> value) printed[name] = value;
  return printed;
}

void read_state(const std::string& path, GpuRun& run) {
  std::ifstream file(path);
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value) {
    if (key == "enabled")
      run.left_enabled.push_back(static_cast<int>(value));
    else
      run.cupti[key] = value;
  }
}

}  // namespace

std::vector<Ran> read_timeline(const std::string& path) {
  std::vector<Ran> timeline;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Ran ran;
    fields >> ran.kind >> ran.start_ns >> ran.end_ns >> ran.device >> ran.stream >> ran.correlation >> ran.bytes >>
        ran.graph >> ran.called_ns >> ran.name;
    timeline.push_back(ran);
  }
  return timeline;
}

std::vector<const Ran*> GpuRun::ran(const std::string& kind) const {
  std::vector<const Ran*> found;
  for (const Ran& one : timeline)
    if (one.kind == kind) found.push_back(&one);
  return found;
}

int GpuRun::calls(const std::string& begin) const {
  int count = 0;
  for (const std::string& call : cupti_calls) count += call.rfind(begin + " ", 0) == 0;
  return count;
}

std::vector<const SeenEvent*> of_category(const SeenTrace& trace, const std::string& category) {
  std::vector<const SeenEvent*> found;
  for (const SeenEvent& event : trace.events)
    if (event.phase == "X" && event.category == category) found.push_back(&event);
  return found;
}

GpuRun run_gpu(const GpuJob& wanted) {
  const ScratchFolder scratch;
  Job job;
  job.command = {built("tests/apps_gpu/" + wanted.program)};
  job.command.insert(job.command.end(), wanted.arguments.begin(), wanted.arguments.end());
  job.folder = scratch.path();
  job.preload = wanted.preload;
  const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
  job.environment = {
      {"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
      {"RANK", "0"},
      {"WORLD_SIZE", "1"},
      {"DDP_ID_FILE", scratch / "id"},
      {"FAKE_CUDA_TIMELINE", scratch / "timeline"},
      {"FAKE_CUPTI_STATE", scratch / "state"},
      {"FAKE_CUPTI_LOG", scratch / "log"},
      {"PROFSHIM_SPEC",
       scratch.write("s.toml", "version = 1\n[ranks]\nselect = \"all\"\n[output]\nfolder = \"" + (scratch / "traces") +
                                   "\"\ngzip = false\n" + (wanted.spec.empty() ? kRecordAll : wanted.spec))},
  };
  if (!wanted.cupti.empty()) job.environment.emplace_back("PROFSHIM_CUPTI", built("tests/fakes/" + wanted.cupti));
  job.environment.insert(job.environment.end(), wanted.environment.begin(), wanted.environment.end());

  GpuRun result;
  result.outcome = run(job);
  result.printed = read_printed(result.outcome.out);
  if (wanted.preload) {
    result.traces = read_folder(scratch / "traces");
    expect_written_summaries(scratch / "traces");
    for (const std::string& file : files_below(scratch / "traces")) {
      if (file.ends_with(".stacks.txt")) result.stacks += text_of_file(scratch / "traces/" + file);
    }
  }
  result.timeline = read_timeline(scratch / "timeline");
  read_state(scratch / "state", result);
  std::ifstream log(scratch / "log");
  for (std::string line; std::getline(log, line);) result.cupti_calls.push_back(line.substr(line.find(' ') + 1));
  return result;
}

}  // namespace profshim::e2e
