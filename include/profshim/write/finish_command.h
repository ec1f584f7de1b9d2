// finish.command: a shell command of the user that gets the written traces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profshim/run/manifest.h"
#include "profshim/spec.h"

namespace profshim::write {

class QuietChild;

/// True if the spec has a finish.command and finish.ranks selects this rank.
bool runs_finish_command(const Spec& spec, const Rank& rank);

/// Returns the environment of the command, but for the variables that start() adds: `variables` without profshim's own,
/// and with PROFSHIM=0, so that the command is not profiled.
std::vector<std::string> finish_environment(const char* const* variables);

/// A shell runs the command in a session of its own, and kills it with its children after finish.timeout_seconds, even
/// if this process has ended. Its output goes to finish-rankN.log in the run folder. Not thread-safe.
class FinishCommand {
 public:
  FinishCommand();
  ~FinishCommand();
  /// `files`: below `folder`. `status`: "running", "finished", "recovered" or "killed". Returns "" or the reason why
  /// the command cannot run.
  std::string start(const Spec& spec, const std::string& folder, const run::Manifest& manifest,
                    const std::string& status, const std::vector<std::string>& files,
                    std::vector<std::string> environment);
  bool is_running() const;
  /// Returns the outcome once the command has ended: "succeeded", or "failed: ...". Does not block.
  std::optional<std::string> poll();

 private:
  std::unique_ptr<QuietChild> child_;
  std::int64_t timeout_seconds_ = 0;
};

std::string finish_log_name(int rank);

}  // namespace profshim::write
