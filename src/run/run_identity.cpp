#include "run_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/run/run_folder.h"
#include "profshim/trace/writer.h"
#include "small_files.h"

namespace profshim::run {

std::string to_text(const RunIdentity& identity) {
  return "profshim run\njob " + identity.job.key + "\nid " + identity.id + "\nlaunch " + identity.job.launch +
         "\nancestors " + identity.job.ancestors + "\nname " + identity.run_name + "\nbase " +
         std::to_string(identity.base_time_ns) + "\nrendezvous " + identity.job.rendezvous + "\ncreator " +
         to_text(identity.creator) + "\nrank " + std::to_string(identity.rank) + "\nworld " +
         std::to_string(identity.world_size) + "\nrole " + identity.role + "\n";
}

bool read_run_identity(int folder_fd, RunIdentity& identity) {
  std::string text;
  int error = 0;
  struct stat file {
  }, owner{};
  if (!read_small_file(kIdentityFile, kMostSmallFile, text, error, &file, folder_fd)) return false;
  if (file.st_uid != geteuid() && file.st_uid != 0) {
    if (fstat(folder_fd, &owner) != 0 || owner.st_uid != file.st_uid) return false;
  }
  identity.job.key = line_after(text, "\njob ");
  identity.id = line_after(text, "\nid ");
  identity.job.launch = line_after(text, "\nlaunch ");
  identity.job.ancestors = line_after(text, "\nancestors ");
  identity.run_name = line_after(text, "\nname ");
  identity.job.rendezvous = line_after(text, "\nrendezvous ");
  identity.base_time_ns = leading_number<std::int64_t>(line_after(text, "\nbase "));
  identity.rank = leading_number<int>(line_after(text, "\nrank "));
  identity.world_size = leading_number<int>(line_after(text, "\nworld "));
  identity.role = line_after(text, "\nrole ");
  identity.created_ns = std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
  if (!parse_identity(line_after(text, "\ncreator "), identity.creator)) identity.creator = {};
  return !identity.job.key.empty() && identity.base_time_ns > 0;
}

std::string launch_of(const std::string& folder) {
  RunIdentity found;
  const Descriptor opened(open_high(folder.c_str(), O_PATH | O_DIRECTORY));
  return opened && read_run_identity(opened.get(), found) ? found.job.launch : "";
}

std::string run_id_of(int folder_fd) {
  RunIdentity found;
  return read_run_identity(folder_fd, found) ? found.id : "";
}

std::string mark_folder(int folder_fd, const DeadRun& dead) {
  const RunIdentity run{.job = {.key = dead.name.empty() ? "recovered" : dead.name},
                        .id = dead.id,
                        .run_name = dead.name,
                        .base_time_ns = base_time_for(dead.began_ns),
                        .creator = dead.creator,
                        .rank = dead.rank};
  std::int64_t now_ns = 0;
  const int error = create_whole(folder_fd, kIdentityFile, to_text(run), now_ns);
  if (error == 0) return {};
  if (error != EEXIST) return error_text(error);
  return run_id_of(folder_fd) == dead.id ? "" : "holds another run; name a new folder";
}

}  // namespace profshim::run
