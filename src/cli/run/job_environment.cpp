#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "profshim/base/files.h"
#include "run.h"

namespace profshim::cli {
namespace {

std::string local_time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

std::string merged_overrides(const LoadedSpec& loaded) {
  std::string out;
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    if (!origin.overridden) continue;
    out += (out.empty() ? "" : " ") + origin.key + "=" + origin.value;
  }
  return out;
}

constexpr const char* kNumbered = "output.overwrite=new";

bool is_set(const LoadedSpec& loaded, std::string_view key) {
  return std::any_of(loaded.origins.begin(), loaded.origins.end(), [key](const LoadedSpec::Origin& origin) {
    return origin.key == key && origin.origin != "default";
  });
}

/// The library reads these variables itself; they set no key of the spec.
bool is_read_in_job(std::string_view variable) {
  return variable == "PROFSHIM_CUPTI" || variable == "PROFSHIM_NVTX_CHAIN";
}

}  // namespace

void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program) {
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string preload = before != nullptr && *before != '\0' ? library + ":" + before : library;
  setenv("LD_PRELOAD", preload.c_str(), 1);

  for (const auto& [name, value] : sources.environment) {
    if (!is_read_in_job(name)) unsetenv(name.c_str());
  }
  setenv("PROFSHIM", "1", 1);
  if (!sources.file.empty()) setenv("PROFSHIM_SPEC", absolute_path(sources.file).c_str(), 1);
  std::string overrides = merged_overrides(loaded);
  // If a launcher starts `profshim run` once per rank, set no name: the job's identity then names the run.
  if (loaded.spec.profile.run_name.empty() && rank_from_environment().rank < 0) {
    const std::string name =
        program.substr(program.rfind('/') + 1) + "-" + local_time_text() + "-" + std::to_string(getpid());
    setenv("PROFSHIM_RUN_NAME", name.c_str(), 1);
    // The command may be a script that starts several jobs.
    if (!is_set(loaded, "output.overwrite")) overrides += (overrides.empty() ? "" : " ") + std::string(kNumbered);
  }
  if (!overrides.empty()) setenv("PROFSHIM_SET", overrides.c_str(), 1);
}

}  // namespace profshim::cli
