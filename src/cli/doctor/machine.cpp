#include <gnu/libc-version.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/find_library.h"
#include "doctor.h"
#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/process/process_words.h"
#include "profshim/base/text/message_text.h"

namespace profshim::cli::doctor {
namespace {

#if defined(__x86_64__)
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void note_clock(Notes& notes) {
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const ClockKind kind = choose_clock();
  const char* const name = kind == ClockKind::kTsc          ? "TSC"
                           : kind == ClockKind::kArmCounter ? "CNTVCT_EL0"
                                                            : "CLOCK_MONOTONIC";
  const bool counter = kind != ClockKind::kMonotonic;
  notes.fact("clock",
             std::string(name) + " (the kernel uses " + (source.empty() ? "an unknown source" : source) + ")" +
                 (counter ? "" : ": each event costs about 25 ns more than with a counter that the kernel trusts"));
}

void note_processor(Notes& notes) {
  if (kX86) return;
  notes.fact(
      "processor",
      "not x86-64: steps.source = \"symbol\" does not work, PyTorch operators have only names and times, and the "
      "threads of CUDA calls may be unknown");
}

void note_forks(Notes& notes) {
  if (clear_words_in_children()) return;
  notes.fact("kernel",
             "clears no page in a child (Linux before 4.14): children of _Fork(), clone() and syscall(SYS_fork) that "
             "call MPI, NCCL, CUDA or NVTX spoil the recording of their parent; children of fork() do not");
}

void note_shared_memory(Notes& notes) {
  struct statvfs disk {};
  if (statvfs("/dev/shm", &disk) != 0 || access("/dev/shm", W_OK) != 0) {
    notes.fact("/dev/shm", "not writable: a SIGKILL loses unwritten events; set limits.spool_folder to another folder");
    return;
  }
  const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  const std::uint64_t size = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  const bool small = free < (256u << 20);
  notes.fact("/dev/shm", format_size(free) + " free of " + format_size(size) +
                             (small ? ": small for profshim's buffer files; in a container use --shm-size=1g" : ""));
}

void note_launchers(Notes& notes) {
  std::string found;
  std::set<std::string> seen;
  std::istringstream folders(getenv("PATH") != nullptr ? getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    const auto real = std::filesystem::canonical(folder.empty() ? "." : folder, error);
    if (error || !seen.insert(real.string()).second) continue;
    for (const char* name : {"mpirun.openmpi", "mpirun.mpich", "mpirun", "mpiexec", "srun", "torchrun"}) {
      const std::string path = (folder.empty() ? "." : folder) + "/" + name;
      if (access(path.c_str(), X_OK) == 0) found += (found.empty() ? "" : ", ") + path;
    }
  }
  notes.fact("launchers", found.empty() ? "none on PATH" : found);
}

// NVTX and CUDA each load one injection library, named by a variable. profshim replaces no other library.
void note_injection(Notes& notes, const char* variable, const char* lost) {
  const char* taken = getenv(variable);
  if (taken == nullptr || *taken == '\0') {
    notes.fact(variable, "free");
  } else if (std::string_view(taken).find("libprofshim") != std::string_view::npos) {
    notes.fact(variable, "already set to profshim");
  } else {
    notes.unrecorded(variable, std::string("used by ") + taken + ": " + lost);
  }
}

/// True if profshim forwards NVTX ranges to another tool: the rule of inject/nvtx/injection.cpp.
bool is_nvtx_chained() {
  const char* const taken = getenv("NVTX_INJECTION64_PATH");
  const char* const chained = getenv("PROFSHIM_NVTX_CHAIN");
  return taken != nullptr && *taken != '\0' && chained != nullptr &&
         (std::string_view(chained) == "1" || std::string_view(chained) == taken);
}

// In a job, libprofshim.so also finds a CUPTI that is already mapped or lies beside the job's libcudart.
void note_gpu(Notes& notes) {
  const std::string driver = first_line("/proc/driver/nvidia/version");
  notes.fact("GPU driver", driver.empty() ? "not loaded" : driver);
  if (const char* named = getenv("PROFSHIM_CUPTI"); named != nullptr && *named != '\0') {
    if (access(named, R_OK) == 0) return notes.fact("CUPTI", std::string(named) + " (PROFSHIM_CUPTI)");
    return notes.unrecorded("CUPTI",
                            std::string("cannot read ") + named + "; set PROFSHIM_CUPTI to a libcupti.so, or unset it");
  }
  std::vector<std::string> folders;
  std::istringstream path(getenv("LD_LIBRARY_PATH") != nullptr ? getenv("LD_LIBRARY_PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = getenv(variable); root != nullptr && *root == '/')
      folders.push_back(std::string(root) + "/extras/CUPTI/lib64");
  folders.insert(folders.end(),
                 {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64", "/usr/local/cuda-*/extras/CUPTI/lib64",
                  kX86 ? "/usr/lib/x86_64-linux-gnu" : "/usr/lib/aarch64-linux-gnu"});
  for (const std::string& folder : folders)
    if (const std::vector<std::string> found = files_newest_first(folder + "/libcupti.so.*"); !found.empty())
      return notes.fact("CUPTI", found.front());
  notes.fact("CUPTI",
             "not found in the usual folders; if the job has no CUPTI of its own, set PROFSHIM_CUPTI to a libcupti.so");
}

void note_counters(Notes& notes, const std::vector<PerfCounter>& wanted) {
  std::vector<PerfCounter> tried = wanted;
  for (std::size_t n = 0; wanted.empty() && n < kPerfCounters; ++n) tried.push_back(static_cast<PerfCounter>(n));
  PerfCounters counters;
  const std::vector<std::string> losses = counters.open(tried);
  const PerfReading reading = counters.read();
  std::string found;
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (reading.knows(n)) found.append(found.empty() ? "" : ", ").append(kPerfCounterNames[n].name);
  }
  if (wanted.empty()) {
    if (!losses.empty()) found.append(found.empty() ? "" : "; ").append(losses.front());
    return notes.fact("counters.perf", found);
  }
  if (!found.empty()) notes.recorded("counters.perf", found);
  for (const std::string& loss : losses) notes.unrecorded("counters.perf", loss);
}

}  // namespace

void examine_machine(const Spec& spec, Notes& notes) {
  std::string why_not;
  const std::string library = find_library(why_not);
  if (library.empty()) {
    notes.unrecorded("library", why_not);
  } else {
    notes.fact("library", library);
  }
  notes.fact("glibc", gnu_get_libc_version());
  note_processor(notes);
  note_clock(notes);
  note_forks(notes);
  note_shared_memory(notes);
  note_launchers(notes);
  if (is_nvtx_chained()) {
    notes.fact("NVTX_INJECTION64_PATH",
               std::string(getenv("NVTX_INJECTION64_PATH")) + " receives the NVTX ranges, too (PROFSHIM_NVTX_CHAIN)");
  } else {
    note_injection(notes, "NVTX_INJECTION64_PATH",
                   "that tool receives the NVTX ranges; to record the ranges too, set PROFSHIM_NVTX_CHAIN=1");
  }
  note_injection(notes, "CUDA_INJECTION64_PATH",
                 "that tool receives the device activity, and profshim records only CUDA calls; unset the variable");
  note_gpu(notes);
  note_counters(notes, spec.counters.perf);
}

}  // namespace profshim::cli::doctor
