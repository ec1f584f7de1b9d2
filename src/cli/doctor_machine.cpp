#include <gnu/libc-version.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "doctor.h"
#include "profshim/base.h"

namespace profshim::cli::doctor {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void look_at_clock(Notes& notes) {
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const bool tsc = choose_clock() == ClockKind::kTsc;
  notes.fact("clock", std::string(tsc ? "TSC" : "CLOCK_MONOTONIC") + " (the kernel uses " +
                          (source.empty() ? "an unknown source" : source) + ")" +
                          (tsc ? "" : ": each event costs some 25 ns more than with an invariant TSC"));
}

void look_at_shared_memory(Notes& notes) {
  struct statvfs disk {};
  if (statvfs("/dev/shm", &disk) != 0 || access("/dev/shm", W_OK) != 0) {
    notes.fact("/dev/shm", "not writable: spools go to TMPDIR");
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
  std::istringstream folders(getenv("PATH") != nullptr ? getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"mpirun.openmpi", "mpirun.mpich", "mpirun", "mpiexec", "srun", "torchrun"}) {
      const std::string path = folder + "/" + name;
      if (access(path.c_str(), X_OK) == 0) found += (found.empty() ? "" : ", ") + path;
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
  } else if (lost != nullptr) {
    notes.unrecorded(variable, std::string("taken by ") + taken + ": " + lost);
  } else {
    notes.fact(variable, std::string("taken by ") + taken);
  }
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
  look_at_clock(notes);
  look_at_shared_memory(notes);
  look_at_launchers(notes);
  look_at_seat(notes, "NVTX_INJECTION64_PATH", "NVTX ranges go there and are not seen unless it hands them on");
  look_at_seat(notes, "CUDA_INJECTION64_PATH", nullptr);
}

}  // namespace profshim::cli::doctor
