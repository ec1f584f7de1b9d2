#include <glob.h>
#include <gnu/libc-version.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "doctor.h"
#include "profshim/base/clock.h"
#include "profshim/base/size_text.h"

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

void look_at_clock(Notes& notes) {
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const ClockKind kind = choose_clock();
  const char* const name = kind == ClockKind::kTsc          ? "TSC"
                           : kind == ClockKind::kArmCounter ? "CNTVCT_EL0"
                                                            : "CLOCK_MONOTONIC";
  const bool counter = kind != ClockKind::kMonotonic;
  notes.fact("clock",
             std::string(name) + " (the kernel uses " + (source.empty() ? "an unknown source" : source) + ")" +
                 (counter ? "" : ": each event costs some 25 ns more than with a counter that the kernel trusts"));
}

void look_at_processor(Notes& notes) {
  if (kX86) return;
  notes.fact(
      "processor",
      "not x86-64: no steps from a function (steps.source = \"symbol\"), operators of PyTorch have names and times "
      "only, and threads of CUDA calls may be unknown");
}

void look_at_shared_memory(Notes& notes) {
  struct statvfs disk {};
  if (statvfs("/dev/shm", &disk) != 0 || access("/dev/shm", W_OK) != 0) {
    notes.fact("/dev/shm", "not writable: nothing survives a SIGKILL, see limits.spool_folder");
    return;
  }
  const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  const std::uint64_t size = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  const bool small = free < (256u << 20);
  notes.fact("/dev/shm", format_size(free) + " free of " + format_size(size) +
                             (small ? ": small for spools; in a container: --shm-size=1g" : ""));
}

void look_at_launchers(Notes& notes) {
  std::string found;
  std::set<std::string> seen;  // PATH often names a folder twice: /bin is /usr/bin
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

// NVTX and CUDA load one injection library each: whoever set the variable first has the seat.
void look_at_seat(Notes& notes, const char* variable, const char* lost) {
  const char* taken = getenv(variable);
  if (taken == nullptr || *taken == '\0') {
    notes.fact(variable, "free");
  } else if (std::string_view(taken).find("libprofshim") != std::string_view::npos) {
    notes.fact(variable, "ours already");
  } else {
    notes.unrecorded(variable, std::string("taken by ") + taken + ": " + lost);
  }
}

std::string first_match(const std::string& pattern) {
  glob_t found{};
  const bool any = glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0;
  const std::string path = any ? found.gl_pathv[found.gl_pathc - 1] : "";
  globfree(&found);
  return path;
}

// Where the library would look, as far as that can be told before the job runs: it also takes what the job has mapped
// already, and what lies beside the job's libcudart.
void look_at_gpu(Notes& notes) {
  const std::string driver = first_line("/proc/driver/nvidia/version");
  notes.fact("GPU driver", driver.empty() ? "none is loaded" : driver);
  if (const char* named = getenv("PROFSHIM_CUPTI"); named != nullptr && *named != '\0') {
    if (access(named, R_OK) == 0) return notes.fact("CUPTI", std::string(named) + " (PROFSHIM_CUPTI)");
    return notes.unrecorded("CUPTI", std::string("PROFSHIM_CUPTI names ") + named + ", which cannot be read");
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
    if (const std::string found = first_match(folder + "/libcupti.so.*"); !found.empty())
      return notes.fact("CUPTI", found);
  notes.fact("CUPTI", "none in the usual places: that of the job's own CUDA is used, where it has one");
}

}  // namespace

std::string library_of_tool() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return "";
  std::string folder(path, static_cast<std::size_t>(length));
  folder.resize(folder.rfind('/'));
  for (const char* place : {"/libprofshim.so", "/../lib/libprofshim.so"})
    if (access((folder + place).c_str(), R_OK) == 0) return folder + place;
  return "";
}

void look_at_machine(Notes& notes) {
  const std::string library = library_of_tool();
  if (library.empty()) {
    notes.unrecorded("library", "no libprofshim.so beside the tool or in ../lib");
  } else {
    notes.fact("library", library);
  }
  notes.fact("glibc", gnu_get_libc_version());
  look_at_processor(notes);
  look_at_clock(notes);
  look_at_shared_memory(notes);
  look_at_launchers(notes);
  look_at_seat(notes, "NVTX_INJECTION64_PATH", "NVTX ranges go there and are not seen unless it hands them on");
  look_at_seat(notes, "CUDA_INJECTION64_PATH", "GPU work goes there; ours are the CUDA calls seen by symbol alone");
  look_at_gpu(notes);
}

}  // namespace profshim::cli::doctor
