#include "rendezvous.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "profshim/base/files.h"
#include "profshim/base/key_hash.h"
#include "profshim/base/text/number_text.h"
#include "rank_claims.h"
#include "small_files.h"

namespace profshim::run {
namespace {

constexpr int kMostTries = 5;

struct Choice {
  std::string text, run_name;
  ProcessIdentity process;
  int rank = -1;
  std::int64_t made_ns = 0;
};

bool read_choice(int folder_fd, const std::string& name, Choice& choice) {
  struct stat file {};
  int error = 0;
  if (!read_small_file(name, kMostSmallFile, choice.text, error, &file, folder_fd)) return false;
  choice.run_name = line_after(choice.text, "\nname ");
  choice.rank = leading_number<int>(line_after(choice.text, "\nrank "));
  choice.made_ns = std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
  return parse_identity(line_after(choice.text, "\nprocess "), choice.process) && !choice.run_name.empty();
}

bool is_of_this_launch(const Choice& choice, const std::string& run_folder, const JobIdentity& job, int rank,
                       std::int64_t now_ns) {
  if (choice.process == own_identity()) return true;
  switch (joining(run_folder, job, rank, now_ns)) {
    case Joining::kMayJoin:
      return true;
    case Joining::kOtherRun:
      return false;
    case Joining::kNoRun:  // the process that has chosen the name is about to make the folder
      return choice.rank != rank && life_of(choice.process, choice.made_ns, now_ns) == Life::kAlive;
  }
  return false;
}

}  // namespace

Rendezvous meet(const std::string& pattern, NameValues names, const JobIdentity& job, const std::string& own_name) {
  const std::size_t slash = pattern.rfind('/', pattern.find("{run_name}"));
  const std::string folder = absolute_path(expand(pattern.substr(0, slash), names));
  const Descriptor opened = make_folder(folder);
  if (!opened) return {own_name, {}};
  char file[48];
  std::snprintf(file, sizeof file, ".profshim-rendezvous-%016llx",
                static_cast<unsigned long long>(mixed(kKeyStart, job.rendezvous)));
  const std::string text = "profshim rendezvous\nname " + own_name + "\nrank " + std::to_string(names.rank.rank) +
                           "\nprocess " + to_text(own_identity()) + "\n";
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::int64_t now_ns = 0;
    const int error = create_whole(opened.get(), file, text, now_ns);
    if (error == 0) return {own_name, folder + "/" + file};
    if (error != EEXIST) break;
    Choice choice;
    if (read_choice(opened.get(), file, choice)) {
      names.run_name = choice.run_name;
      const std::string run_folder = absolute_path(expand(pattern, names));
      if (is_of_this_launch(choice, run_folder, job, names.rank.rank, now_ns))
        return {choice.run_name, folder + "/" + file};
    }
    remove_if_unchanged(opened.get(), file, choice.text);
  }
  return {own_name, {}};
}

void leave_rendezvous(const std::string& file, const std::string& run_name, const std::string& run_folder) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos || !recording_into(open_folder(run_folder).get()).empty()) return;
  Choice choice;
  const Descriptor folder = open_folder(file.substr(0, slash));
  const std::string name = file.substr(slash + 1);
  if (!folder || !read_choice(folder.get(), name, choice) || choice.run_name != run_name) return;
  remove_if_unchanged(folder.get(), name, choice.text);
}

}  // namespace profshim::run
