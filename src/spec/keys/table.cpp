// Every key of a spec, in the order of config/reference.toml.
#include <cstdint>
#include <iterator>

#include "row_types.h"
#include "rows.h"

namespace profshim::spec {
namespace {

constexpr std::int64_t kAny = kLargestNumber;

std::string check_run_name(const std::string& text) {
  if (text.find('/') != std::string::npos) return "a run name is one folder name and cannot hold \"/\"";
  if (text == "." || text == "..") return "a run name cannot be \"" + text + "\"";
  return "";
}

std::string check_log(const std::string& text) {
  if (text.empty()) return "a destination is missing; write \"stderr\" or a path";
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text == "stderr" || !std::all_of(text.begin(), text.end(), is_letter)) return "";
  return quoted(text) +
         " is neither \"stderr\" nor a path; levels are quiet, error, warn, info, debug; a file of that "
         "name is \"./" +
         text + "\"";
}

std::vector<KeyRow> file_keys() {
  return {
      version_row(),
      phases_row(),
      include_files_row(),
      include_combine_row(),
  };
}

std::vector<KeyRow> profile_keys() {
  return {
      with_short_forms(boolean_row(
                           "profile.enable", [](Spec& s) -> bool& { return s.profile.enable; },
                           "false switches profshim off: it loads, opens and records nothing"),
                       "PROFSHIM"),
      with_short_forms(text_row(
                           "profile.run_name", "text", [](Spec& s) -> std::string& { return s.profile.run_name; },
                           "name of the run, equal on all ranks; empty = program and job id, or program and start time",
                           check_run_name),
                       "PROFSHIM_RUN_NAME, --run-name"),
      choice_row<bool>(
          "profile.on_error", {{"disable", false}, {"abort", true}},
          [](Spec& s) -> bool& { return s.profile.abort_on_error; },
          "if profshim cannot record: run the job without it, or abort the job"),
      choice_row<OnConflict>(
          "profile.conflict",
          {{"yield", OnConflict::kYield}, {"refuse", OnConflict::kRefuse}, {"ignore", OnConflict::kIgnore}},
          [](Spec& s) -> OnConflict& { return s.profile.on_conflict; },
          "if the job's own profiler wants CUPTI: hand CUPTI over, refuse the profiler, or ignore the conflict"),
      with_short_forms(
          choice_row<LogLevel>("profile.log_level",
                               {{"quiet", LogLevel::kQuiet},
                                {"error", LogLevel::kError},
                                {"warn", LogLevel::kWarn},
                                {"info", LogLevel::kInfo},
                                {"debug", LogLevel::kDebug}},
                               [](Spec& s) -> LogLevel& { return s.profile.log_level; },
                               "least severity of a message in the log",
                               {{"warning", "did you mean \"warn\"?"}, {"off", "did you mean \"quiet\"?"}}),
          "PROFSHIM_LOG"),
      with_short_forms(text_row(
                           "profile.log", "path", [](Spec& s) -> std::string& { return s.profile.log; },
                           "destination of the log: stderr or a file", check_log),
                       "PROFSHIM_LOG"),
  };
}

std::vector<KeyRow> process_keys() {
  return {
      texts_row(
          "process.match", "list of patterns", [](Spec& s) -> std::vector<std::string>& { return s.process.match; },
          "only programs that match one of these patterns record; empty = all"),
      texts_row(
          "process.exclude", "list of patterns", [](Spec& s) -> std::vector<std::string>& { return s.process.exclude; },
          "programs that match one of these patterns do not record"),
      with_short_forms(text_row(
                           "process.role", "text", [](Spec& s) -> std::string& { return s.process.role; },
                           "role of this process in the job, for names, traces and ranks.select; empty = the class of "
                           "an actor of Ray"),
                       "PROFSHIM_ROLE"),
      require_any_row(),
  };
}

std::vector<KeyRow> rank_keys() {
  return {
      ranks_row(),
      choice_row<std::string>(
          "ranks.source",
          {{"auto", "auto"},
           {"mpi", "mpi"},
           {"RANK", "RANK"},
           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK"},
           {"PMIX_RANK", "PMIX_RANK"},
           {"PMI_RANK", "PMI_RANK"},
           {"PALS_RANKID", "PALS_RANKID"},
           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK"},
           {"FLUX_TASK_RANK", "FLUX_TASK_RANK"},
           {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_RANK"},
           {"SLURM_PROCID", "SLURM_PROCID"}},
          [](Spec& s) -> std::string& { return s.ranks.source; },
          "source of the rank; auto = MPI, else the launcher's variables, else torch.distributed or NCCL",
          {{"nccl", "\"auto\" takes the rank of the first NCCL communicator if no launcher and no MPI gives one"},
           {"torch", "\"auto\" takes the rank of init_process_group() if no launcher gives one"}}),
      choice_row<bool>(
          "ranks.unknown", {{"skip", false}, {"record", true}}, [](Spec& s) -> bool& { return s.ranks.record_unknown; },
          "whether a process whose rank is unknown records"),
  };
}

std::vector<Choice<StepSource>> step_sources() {
  std::vector<Choice<StepSource>> choices;
  for (std::size_t i = 0; i < std::size(kStepSources); ++i) {
    choices.push_back({kStepSources[i].word, static_cast<StepSource>(i)});
  }
  return choices;
}

std::vector<KeyRow> step_keys() {
  return {
      choice_row<StepSource>(
          "steps.source", step_sources(), [](Spec& s) -> StepSource& { return s.steps.source; },
          "kind of event that marks a step; auto = find the loop; none = the whole job is one window"),
      text_row(
          "steps.pattern", "pattern", [](Spec& s) -> std::string& { return s.steps.pattern; },
          "name of the range, operator, function, kernel or collective that marks a step: * ? [a-z]"),
      choice_row<bool>(
          "steps.edge", {{"begin", false}, {"end", true}}, [](Spec& s) -> bool& { return s.steps.edge_end; },
          "a step begins where its marker begins, or where the marker ends"),
      integer_row(
          "steps.every", 1, kAny, +[](Spec& s) -> std::int64_t& { return s.steps.every; },
          "number of markers in one step"),
      integer_row(
          "steps.every_ms", 0, kAny / 1000000, +[](Spec& s) -> std::int64_t& { return s.steps.every_ms; },
          "length of a step in milliseconds for steps.source = \"time\""),
      integer_row(
          "steps.min_interval_ms", 0, kAny / 1000000, +[](Spec& s) -> std::int64_t& { return s.steps.min_interval_ms; },
          "a marker sooner than this after the last counted marker is not counted"),
      choice_row<bool>(
          "steps.numbering", {{"relative", false}, {"absolute", true}},
          [](Spec& s) -> bool& { return s.steps.absolute; },
          "count steps from the first one seen, or take the number in the marker's name"),
      integer_row(
          "steps.first", -kAny, kAny, +[](Spec& s) -> std::int64_t& { return s.steps.first; },
          "number of the first step if the marker's name has none"),
      text_row(
          "steps.epoch", "pattern", [](Spec& s) -> std::string& { return s.steps.epoch; },
          "the NVTX range that marks an epoch, for schedule.per = \"epoch\""),
  };
}

std::vector<KeyRow> schedule_keys() {
  return {
      integer_row(
          "schedule.skip_first", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.skip_first; },
          "steps before the first cycle"),
      integer_row(
          "schedule.wait", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.wait; },
          "steps of each cycle that are not recorded"),
      integer_row(
          "schedule.warmup", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.warmup; },
          "steps of each cycle that warm up the recording and are discarded"),
      integer_row(
          "schedule.active", 1, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.active; },
          "steps of each cycle that are recorded into one trace"),
      integer_row(
          "schedule.repeat", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.repeat; },
          "number of cycles; 0 = without end"),
      integer_row(
          "schedule.skip_first_wait", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.skip_first_wait; },
          "if not 0, the first cycle has no wait"),
      steps_row(),
      boolean_row(
          "schedule.continuous", [](Spec& s) -> bool& { return s.schedule.continuous; },
          "consecutive steps of the list share one trace"),
      choice_row<bool>(
          "schedule.per", {{"run", false}, {"epoch", true}}, [](Spec& s) -> bool& { return s.schedule_per_epoch; },
          "run the schedule once, or again in every epoch"),
      choice_row<bool>(
          "schedule.on_exit", {{"save", true}, {"discard", false}}, [](Spec& s) -> bool& { return s.save_on_exit; },
          "a window that is open when the job ends: save it and mark it incomplete, or discard it"),
  };
}

std::vector<KeyRow> capture_keys() {
  return {
      activities_row(),
      with_short_forms(boolean_row(
                           "capture.record_shapes", [](Spec& s) -> bool& { return s.record_shapes; },
                           "record shapes, types and plain values of the inputs of PyTorch's operators"),
                       "PROFSHIM_SHAPES"),
      boolean_row(
          "capture.with_flops", [](Spec& s) -> bool& { return s.with_flops; },
          "count floating-point operations of the PyTorch operators that have a formula"),
      with_short_forms(boolean_row(
                           "capture.with_stack", [](Spec& s) -> bool& { return s.with_stack; },
                           "record Python's stack at each collective and at PyTorch's operators"),
                       "PROFSHIM_STACK"),
      boolean_row(
          "capture.native_stack", [](Spec& s) -> bool& { return s.native_stack; },
          "record the stack of C and C++ functions at each collective and at PyTorch's operators, by libunwind"),
      boolean_row(
          "capture.with_modules", [](Spec& s) -> bool& { return s.with_modules; },
          "with capture.with_stack: the classes of the nn.Modules whose forward() is on the stack, from the outermost"),
      integer_row(
          "capture.stack_every", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.stack_every; },
          "record a stack at every Nth operator of a thread; 0 = at collectives only"),
      integer_row(
          "capture.stack_depth", 1, 256, +[](Spec& s) -> std::int64_t& { return s.stack_depth; },
          "number of frames kept of a stack, from the innermost"),
      with_short_forms(boolean_row(
                           "capture.profile_memory", [](Spec& s) -> bool& { return s.profile_memory; },
                           "record allocations and releases of GPU memory and of PyTorch's allocators; the first that "
                           "fails ends its window, "
                           "whose trace is written before the job gets the error"),
                       "PROFSHIM_MEMORY"),
      boolean_row(
          "capture.cuda_sync", [](Spec& s) -> bool& { return s.cuda_sync; },
          "record waits of the host and of streams as events of the GPU, for HTA's critical path; HTA then counts "
          "these "
          "waits as busy time"),
      choice_row<bool>(
          "capture.mpi_polls", {{"folded", true}, {"each", false}}, [](Spec& s) -> bool& { return s.fold_polls; },
          "unsuccessful polls (MPI_Test, MPI_Iprobe, ...) in a row: one event that counts them, or one event each"),
      choice_row<bool>(
          "capture.graphs", {{"nodes", false}, {"launches", true}}, [](Spec& s) -> bool& { return s.whole_graphs; },
          "CUDA graphs: one event for each kernel and copy, or one for each launch, which costs less"),
      choice_row<DeviceTiming>(
          "capture.device_timing",
          {{"auto", DeviceTiming::kAuto}, {"cupti", DeviceTiming::kCupti}, {"host", DeviceTiming::kHost}},
          [](Spec& s) -> DeviceTiming& { return s.device_timing; },
          "source of the times of kernels and copies: CUPTI (also auto), or none: only the host's calls are recorded",
          {{"events",
            "CUDA events would change the job's streams; write \"cupti\", or \"host\" for the host's calls only"}}),
      boolean_row(
          "capture.nccl_profiler", [](Spec& s) -> bool& { return s.nccl_profiler; },
          "record algorithm, protocol and channels of NCCL operations, as a profiler plugin of NCCL 2.27 and later, "
          "unless the job has one; on a GPU tested with one rank only"),
  };
}

std::vector<KeyRow> python_call_keys() {
  return {
      boolean_row(
          "capture.python_calls", [](Spec& s) -> bool& { return s.python_calls; },
          "record each call of a Python function, a built-in function and an nn.Module in windows of steps and phases"),
      texts_row(
          "capture.python_include", "list of patterns",
          [](Spec& s) -> std::vector<std::string>& { return s.python_include; },
          "source files whose functions capture.python_calls records, by whole path; empty = all"),
      texts_row(
          "capture.python_exclude", "list of patterns",
          [](Spec& s) -> std::vector<std::string>& { return s.python_exclude; },
          "source files whose functions capture.python_calls leaves out, such as \"*/site-packages/*\"; calls of "
          "nn.Modules are always recorded"),
  };
}

std::vector<KeyRow> left_out_keys() {
  return {
      texts_row(
          "capture.include", "list of patterns", [](Spec& s) -> std::vector<std::string>& { return s.include; },
          "events whose name or category matches one of these patterns are written; empty = all. Steps, phases, "
          "counters "
          "and calls of MPI and NCCL always are"),
      texts_row(
          "capture.exclude", "list of patterns", [](Spec& s) -> std::vector<std::string>& { return s.exclude; },
          "events whose name or category matches one of these patterns are not written; the trace tells their number "
          "and "
          "time"),
      integer_row(
          "capture.min_us", 0, kAny / 1000, +[](Spec& s) -> std::int64_t& { return s.min_us; },
          "shorter calls and device activities are not written, in microseconds; calls of MPI and NCCL always are"),
  };
}

std::vector<KeyRow> limit_keys() {
  return {
      with_short_forms(
          size_row(
              "limits.host_memory", kLeastMemory, [](Spec& s) -> std::uint64_t& { return s.limits.host_memory; },
              "maximum host memory of a recording, per process"),
          "PROFSHIM_MEM"),
      window_seconds_row(),
      size_row(
          "limits.trace_size", std::uint64_t{64} << 10, [](Spec& s) -> std::uint64_t& { return s.limits.trace_size; },
          "maximum size of a trace before compression; at this size its window is closed"),
      integer_row(
          "limits.total_traces", 1, kAny, +[](Spec& s) -> std::int64_t& { return s.limits.total_traces; },
          "maximum number of traces that one rank writes in a run, unless output.num_traces_to_keep or keep_bytes "
          "removes old ones"),
      integer_row(
          "limits.memory_entries", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.limits.memory_entries; },
          "maximum number of PyTorch's allocations and releases in a trace; later ones are left out and counted"),
      size_row(
          "limits.disk_free", 0, [](Spec& s) -> std::uint64_t& { return s.limits.disk_free; },
          "minimum free space on the disk of output.folder; with less, no window is opened or written"),
      choice_row<OnLimit>(
          "limits.on_limit",
          {{"close_window", OnLimit::kCloseWindow}, {"drop_new", OnLimit::kDropNew}, {"drop_old", OnLimit::kDropOld}},
          [](Spec& s) -> OnLimit& { return s.limits.on_limit; },
          "if limits.host_memory is used up: close the window and save it, drop the newest events, or drop the "
          "oldest"),
      text_row(
          "limits.spool_folder", "path", [](Spec& s) -> std::string& { return s.limits.spool_folder; },
          "folder of the spools, profshim's buffer files of events that are not written yet; empty = /dev/shm. On a "
          "disk, a full copy-on-write file system may end the job (SIGBUS), and a slow disk may stall it"),
  };
}

std::vector<KeyRow> system_keys() {
  return {
      boolean_row(
          "system.cpu", [](Spec& s) -> bool& { return s.system.cpu; },
          "sample the CPU use of the process and of the machine, and the number of threads, in windows"),
      boolean_row(
          "system.memory", [](Spec& s) -> bool& { return s.system.memory; },
          "sample the memory of the process and its peak, the machine's available memory, and that of a limited "
          "cgroup"),
      boolean_row(
          "system.disk", [](Spec& s) -> bool& { return s.system.disk; },
          "sample the bytes per second that the process reads from and writes to disks"),
      boolean_row(
          "system.net", [](Spec& s) -> bool& { return s.system.net; },
          "sample the bytes per second that the network interfaces receive and send, without lo"),
      boolean_row(
          "system.gpu", [](Spec& s) -> bool& { return s.system.gpu; },
          "sample utilization, memory, clocks and power of the GPUs that a CUDA job sees, by NVML"),
      interval_seconds_row(),
  };
}

std::vector<KeyRow> counter_keys() { return {perf_row()}; }

std::vector<KeyRow> debug_keys() {
  return {
      text_row(
          "debug.cupti_dump", "path", [](Spec& s) -> std::string& { return s.cupti_dump; },
          "folder for copies of the raw buffers of CUPTI, to debug profshim; empty = none"),
  };
}

std::vector<KeyRow> make_rows() {
  std::vector<KeyRow> rows;
  for (const auto keys : {file_keys, profile_keys, process_keys, rank_keys, step_keys, schedule_keys, capture_keys,
                          python_call_keys, left_out_keys, limit_keys, output_keys, summary_keys, clock_keys,
                          finish_keys, check_keys, system_keys, counter_keys, debug_keys}) {
    std::vector<KeyRow> table = keys();
    rows.insert(rows.end(), std::make_move_iterator(table.begin()), std::make_move_iterator(table.end()));
  }
  const Spec defaults;
  for (KeyRow& row : rows) {
    if (row.print) row.default_value = row.print(defaults);
  }
  return rows;
}

}  // namespace

const std::vector<KeyRow>& key_rows() {
  static const auto& kRows = *new std::vector<KeyRow>(make_rows());
  return kRows;
}

}  // namespace profshim::spec
