#include "profshim/write/finish_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "profshim/base/text/message_text.h"
#include "quiet_child.h"

namespace profshim::write {
namespace {

/// A variable holds 128 KiB (MAX_ARG_STRLEN).
constexpr std::size_t kMostFiles = 120 << 10;

/// Runs $1. After $2 seconds, the shell kills its group of processes, itself included. The exit status goes through
/// descriptor 3, which the command does not have.
constexpr char kScript[] =
    "trap 'kill $timer; exit' USR1\n"
    "sleep \"$2\" 3>&- & timer=$!\n"
    "(sh -c \"$1\" 3>&-; echo $? >&3; kill -USR1 $$) &\n"
    "wait $timer\n"
    "kill -KILL 0\n";

std::string files_variable(const std::string& folder, const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += (text.empty() ? "" : "\n") + folder + "/" + file;
  return text.size() > kMostFiles ? std::string() : text;
}

int open_log(const std::string& folder, int rank) {
  const Descriptor below = open_folder(folder);
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  const int log = below ? openat_high(below.get(), finish_log_name(rank).c_str(), flags) : -1;
  return log >= 0 ? log : openat_high(AT_FDCWD, "/dev/null", O_WRONLY);
}

}  // namespace

bool runs_finish_command(const Spec& spec, const Rank& rank) {
  if (spec.finish.command.empty()) return false;
  if (spec.finish.ranks.empty()) return true;
  RankExpression ranks;
  std::string message;
  int column = 0;
  return ranks.parse(spec.finish.ranks, message, column) && ranks.selects(rank);
}

std::string finish_log_name(int rank) { return "finish-rank" + std::to_string(rank) + ".log"; }

std::vector<std::string> finish_environment(const char* const* variables) {
  std::vector<std::string> kept = {"PROFSHIM=0"};
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    if (!std::string_view(*variables).starts_with("PROFSHIM")) kept.emplace_back(*variables);
  }
  return kept;
}

FinishCommand::FinishCommand() : child_(std::make_unique<QuietChild>()) {}
FinishCommand::~FinishCommand() = default;

bool FinishCommand::is_running() const { return child_->is_running(); }

std::string FinishCommand::start(const Spec& spec, const std::string& folder, const run::Manifest& manifest,
                                 const std::string& status, const std::vector<std::string>& files,
                                 std::vector<std::string> environment) {
  timeout_seconds_ = spec.finish.timeout_seconds;
  const auto add = [&](const char* name, const std::string& value) { environment.push_back(name + ("=" + value)); };
  add("PROFSHIM_FOLDER", folder);
  add("PROFSHIM_FILES", files_variable(folder, files));
  add("PROFSHIM_RANK", std::to_string(manifest.rank.rank));
  add("PROFSHIM_NODE_RANK", std::to_string(manifest.rank.node_rank));
  add("PROFSHIM_RUN_NAME", manifest.run_name);
  add("PROFSHIM_STATUS", status);
  const Descriptor output(open_log(folder, manifest.rank.rank));
  if (!output) return error_text(errno);
  const int error = child_->start(
      {"/bin/sh", "-c", kScript, "profshim-finish", spec.finish.command, std::to_string(timeout_seconds_)}, environment,
      output.get());
  return error != 0 ? std::string("/bin/sh: ") + error_text(error) : std::string();
}

std::optional<std::string> FinishCommand::poll() {
  const std::optional<std::string> text = child_->poll();
  if (!text) return std::nullopt;
  if (*text == "0\n") return "succeeded";
  if (*text == QuietChild::kLostPipe)
    return "failed: its outcome is not known: the job closed a descriptor of profshim";
  if (!text->empty()) return "failed: exit status " + text->substr(0, text->find('\n'));
  return "failed: killed, after " + std::to_string(timeout_seconds_) + " s at the latest (finish.timeout_seconds)";
}

}  // namespace profshim::write
