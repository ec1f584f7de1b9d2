#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "doctor.h"
#include "elf_image.h"
#include "profshim/elf.h"
#include "profshim/event.h"

namespace profshim::cli::doctor {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOurMachine = EM_AARCH64;
#endif

struct Loaded {
  std::string path;
  ElfImage image;
};

std::string joined(const std::vector<std::string>& words, std::size_t most = 8) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i) text += (i == 0 ? "" : ", ") + words[i];
  if (words.size() > most) text += " and " + std::to_string(words.size() - most) + " more";
  return text;
}

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool refuses_preload(const std::string& path, const ElfImage& image, Notes& notes) {
  struct stat status {};
  if (!image.readable) {
    notes.unrecorded("program", image.problem);
  } else if (!image.is_64_bit) {
    notes.unrecorded("program", "32-bit: ld.so reports that libprofshim.so is 64-bit, and runs the program without it");
  } else if (image.machine != kOurMachine) {
    notes.unrecorded("program", "built for another processor than libprofshim.so (ELF machine " +
                                    std::to_string(image.machine) + ")");
  } else if (image.interpreter.empty()) {
    notes.unrecorded("program", "statically linked: no ld.so preloads libprofshim.so; link the program dynamically");
  } else if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    notes.unrecorded("program", "set-user-ID or set-group-ID: ld.so ignores LD_PRELOAD for it");
  } else if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    notes.unrecorded("program", "has file capabilities (getcap): ld.so ignores LD_PRELOAD for it");
  } else {
    return false;
  }
  return true;
}

std::string implementation_of(const std::string& library) {
  if (starts_with(library, "libmpich.so") || starts_with(library, "libmpi.so.12")) return "MPICH or its ABI";
  if (starts_with(library, "libmpi_abi.so")) return "MPI-5 ABI";
  if (starts_with(library, "libmpi.so")) return "Open MPI";
  return "";
}

void note_mpi_calls(const std::vector<Loaded>& all, Notes& notes) {
  std::vector<std::string> hooked, unhooked, profiling;
  for (const Loaded& loaded : all) {
    if (loaded.image.defines.count("MPI_Init") != 0) continue;  // an MPI library, which calls itself
    for (const std::string& name : loaded.image.calls) {
      if (starts_with(name, "PMPI_")) profiling.push_back(name);
      if (!starts_with(name, "MPI_")) continue;
      (hook_by_name(name) != HookId::kNone ? hooked : unhooked).push_back(name);
    }
  }
  const auto unique = [](std::vector<std::string>& names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  };
  unique(hooked), unique(unhooked), unique(profiling);
  if (!hooked.empty()) notes.recorded("MPI calls", std::to_string(hooked.size()) + " functions: " + joined(hooked));
  // This is no loss: functions without a hook move no data between ranks.
  if (!unhooked.empty()) notes.fact("MPI calls", "no hook, not recorded: " + joined(unhooked));
  if (!profiling.empty())
    notes.unrecorded("MPI calls", "called by PMPI names, which have no hooks: " + joined(profiling));
}

bool note_mpi(const std::vector<Loaded>& all, Notes& notes) {
  const Loaded& program = all.front();
  if (program.image.defines.count("MPI_Init") != 0) {
    notes.unrecorded("MPI", "statically linked into the program: calls do not go through ld.so; link MPI dynamically");
    return true;
  }
  bool fortran = false;
  std::string found;
  for (const Loaded& loaded : all) {
    const std::string name = loaded.path.substr(loaded.path.rfind('/') + 1);
    const std::string implementation = implementation_of(name);
    if (!implementation.empty()) found = implementation + " (" + loaded.path + ")";
    fortran |= starts_with(name, "libmpi_mpifh") || starts_with(name, "libmpi_usempi") ||
               starts_with(name, "libmpichfort") || starts_with(name, "libmpifort");
  }
  if (found.empty()) return false;
  notes.recorded("MPI", found + (fortran ? ", with Fortran bindings" : ""));
  note_mpi_calls(all, notes);
  return true;
}

bool is_of_c_library(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return starts_with(name, "libc.so") || starts_with(name, "libdl.so") || starts_with(name, "ld-linux");
}

/// True if the program or a library of its own calls the function of the C library.
bool calls_any(const std::vector<Loaded>& all, const std::string& function) {
  return std::any_of(all.begin(), all.end(), [&](const Loaded& loaded) {
    return !is_of_c_library(loaded.path) && loaded.image.calls.count(function) != 0;
  });
}

bool lookups_are_hooked() {
  const char* const wanted = std::getenv("PROFSHIM_DLSYM");
  return wanted == nullptr || std::string_view(wanted) != "0";
}

void note_loaded_later(Notes& notes) {
  notes.fact("MPI",
             lookups_are_hooked()
                 ? "not linked; if the program loads it with dlopen, its calls are recorded, by name and by dlsym"
                 : "not linked; if the program loads it with dlopen, its calls by name are recorded");
}

/// Calls that go past the hooks, as far as the files show it.
void note_lookups(const std::set<std::string>& called, Notes& notes) {
  if (!lookups_are_hooked() && called.count("dlsym") != 0)
    notes.unrecorded("dlsym", "calls of functions that the program looks up by a handle (PROFSHIM_DLSYM is 0)");
  if (called.count("dlmopen") != 0)
    notes.unrecorded("dlmopen", "calls of MPI, NCCL and CUDA in libraries that the program opens by dlmopen");
  if (called.count("dlopen") != 0)
    notes.fact("dlopen",
               "only the run shows if a library is opened with RTLD_DEEPBIND: its last lines say which calls "
               "went past the hooks");
}

// A script's libraries are unknown before it runs: search its text for module names.
void note_script(const Program& program, Notes& notes) {
  constexpr std::size_t kMostRead = 1 << 20;  // imports stand at the top
  std::ifstream file(program.script, std::ios::binary);
  std::string text(kMostRead, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  std::vector<std::string> named;
  for (const char* module : {"mpi4py", "torch", "nvtx", "cupy", "jax", "tensorflow", "horovod"})
    if (text.find(module) != std::string::npos) named.emplace_back(module);
  notes.fact("script", program.script + (named.empty() ? ": mentions no known module" : ": mentions " + joined(named)));
}

void note_nvtx(const std::vector<Loaded>& all, Notes& notes) {
  std::vector<std::string> users;
  for (const Loaded& loaded : all)
    if (loaded.image.uses_nvtx && loaded.path.find("libprofshim") == std::string::npos) users.push_back(loaded.path);
  if (!users.empty()) notes.recorded("NVTX", "ranges of " + joined(users));
}

void note_cuda(const std::vector<Loaded>& all, Notes& notes) {
  for (const Loaded& loaded : all) {
    const std::string name = loaded.path.substr(loaded.path.rfind('/') + 1);
    const bool is_cuda = starts_with(name, "libcudart.so") || starts_with(name, "libcuda.so");
    if (!is_cuda && !loaded.image.holds_cudart) continue;
    // Both runtimes call the driver, which loads the injection library.
    notes.recorded("CUDA", std::string(is_cuda ? "dynamic runtime" : "static runtime") + " (" + loaded.path +
                               "): calls and device activity through CUPTI, which is loaded at cuInit");
    return;
  }
}

void note_required(bool has_mpi, const Spec& spec, Notes& notes) {
  const auto& any = spec.process.require_any;
  const std::pair<bool, const char*> all[] = {
      {any.cuda, "CUDA"}, {any.nccl, "NCCL"}, {any.mpi, "MPI"}, {any.torch, "PyTorch"}};
  std::vector<std::string> named;
  for (const auto& [is_named, library] : all) {
    if (is_named) named.emplace_back(library);
  }
  if (any.start) return notes.fact("recording", "begins when the program starts (process.require_any)");
  if (named.size() == std::size(all)) return;
  notes.fact("recording", "begins when the program uses " + joined(named) + " (process.require_any)");
  if (has_mpi && !any.mpi)
    notes.unrecorded("MPI", "MPI_Init does not begin the recording: process.require_any does not name \"mpi\"");
}

/// `what`: "steps", or "phase rollout". `key`: of the pattern in the spec.
void note_functions(const std::vector<Loaded>& all, const std::string& pattern, const std::string& what,
                    const std::string& key, Notes& notes) {
  std::vector<std::string> paths;
  bool any = false;
  for (const Loaded& loaded : all) {
    paths.push_back(loaded.path);
    for (const elf::Candidate& candidate : elf::examine_file(loaded.path, pattern)) {
      if (candidate.name.empty()) continue;
      any |= candidate.hookable;
      if (candidate.hookable) notes.recorded(what, candidate.name + " in " + candidate.module);
      if (!candidate.hookable)
        notes.unrecorded(what, candidate.name + " in " + candidate.module + ": " + candidate.reason);
    }
  }
  if (any) return;
  const std::vector<std::string> near = elf::nearest_names(paths, pattern);
  notes.unrecorded(what, "no function matches " + key + " \"" + pattern +
                             "\" (a library that is loaded later may have one)" +
                             (near.empty() ? "" : "; similar names: " + joined(near)));
}

void note_symbols(const std::vector<Loaded>& all, const Spec& spec, Notes& notes) {
  if (spec.steps.source == StepSource::kSymbol)
    note_functions(all, spec.steps.pattern, "steps", "steps.pattern", notes);
  for (const PhaseSpec& phase : spec.phases) {
    const std::string what = "phase " + phase.name;
    if (phase.ranges_of.source == PhaseSource::kSymbol)
      note_functions(all, phase.ranges_of.pattern, what, "symbol", notes);
    if (phase.ticks && phase.ticks->source == PhaseSource::kSymbol)
      note_functions(all, phase.ticks->pattern, what, "steps.pattern", notes);
  }
}

}  // namespace

void examine_program(const Program& program, const Spec& spec, Notes& notes) {
  if (!program.behind.empty()) notes.fact("started by", joined(program.behind));
  Loaded main_file{program.path, read_elf(program.path)};
  if (refuses_preload(program.path, main_file.image, notes)) return;

  std::vector<Loaded> all;
  all.push_back(std::move(main_file));
  std::vector<std::string> missing;
  for (const LoadedFile& file : loaded_files(program.path, all.front().image)) {
    if (file.path.empty()) missing.push_back(file.name);
    if (!file.path.empty()) all.push_back({file.path, read_elf(file.path)});
  }
  if (!missing.empty()) notes.unrecorded("program", "would not start: ld.so cannot find " + joined(missing));

  const std::string name = program.path.substr(program.path.rfind('/') + 1);
  const bool has_mpi = note_mpi(all, notes);
  if (starts_with(name, "python")) {
    notes.fact("MPI", "depends on what the program imports (mpi4py, torch with an MPI backend)");
    if (!program.script.empty()) note_script(program, notes);
  } else if (!has_mpi && calls_any(all, "dlopen")) {
    note_loaded_later(notes);
  } else if (!has_mpi) {
    notes.unrecorded("MPI", "not linked, and the program does not call dlopen: it will not become an MPI rank");
  }
  note_lookups(all.front().image.calls, notes);
  note_nvtx(all, notes);
  note_cuda(all, notes);
  note_required(has_mpi, spec, notes);
  note_symbols(all, spec, notes);
}

}  // namespace profshim::cli::doctor
