#include "spool_place.h"

#include <unistd.h>

#include <algorithm>

#include "profshim/base/files.h"
#include "profshim/base/log.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/text/message_text.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"
#include "session/selection/launch_environment.h"
#include "session/selection/selection.h"

namespace profshim::session {
namespace {

// If a file has less room, anonymous memory allows longer windows.
constexpr std::uint64_t kLeastFile = 32 << 20;
// Room for a million events.
constexpr std::uint64_t kComfortable = 64 << 20;

std::uint64_t recording_here(const Plan& plan) {
  std::uint64_t selected = 0;
  for (int r = 0; r < plan.rank.world_size; ++r) {
    Rank other;
    other.rank = r;
    other.world_size = plan.rank.world_size;
    selected += records(plan.spec, other) ? 1 : 0;
  }
  const auto here = static_cast<std::uint64_t>(std::max(1, plan.rank.local_world_size));
  return std::clamp<std::uint64_t>(selected, 1, here);
}

std::string spool_name(const Plan& plan) {
  return "profshim-" + std::to_string(getuid()) + "-rank" + std::to_string(plan.rank.rank) + "-" +
         std::to_string(getpid()) + "-" + random_text() + ".spool";
}

bool create_in(const Plan& plan, SpoolPlace& place, const std::string& folder, std::string& why_not) {
  recorder::Room room = place.room->now(0, 0);
  if (!folder.empty()) {
    const std::uint64_t in_folder = place.room->room_in(folder);
    if (in_folder < std::min(kLeastFile, plan.spec.limits.host_memory)) {
      why_not = folder + " has no room (" + format_size(in_folder) + " for this process)";
      return false;
    }
    if (in_folder < room.bytes) room = {in_folder, recorder::Bound::kFileSystem};
  }
  recorder::SpoolSize size;
  const std::uint64_t blocks = plan.spec.activities.cpu && plan.spec.profile_memory ? recorder::kBlockTableBytes : 0;
  if (!recorder::divide_memory(room.bytes, device::host_bytes(plan.spec, room.bytes) + blocks,
                               !plan.spec.counters.perf.empty(), size)) {
    why_not = std::string(recorder::reason_of(room.bound)) + ": " + format_size(room.bytes) + ", at least " +
              format_size(recorder::kLeastRoom) + " are needed";
    return false;
  }
  const std::string path = folder.empty() ? "" : folder + "/" + spool_name(plan);
  // A small RLIMIT_FSIZE may allow a smaller spool.
  for (; size.chunks >= 16; size.chunks /= 4) {
    if (!recorder::create_spool(path, size, why_not)) continue;
    place.bound = room.bound;
    place.bytes = room.bytes;
    device::set_memory_budget(room.bytes);
    place.room->set_folder(folder);
    recorder::watch_room(place.room.get());
    return true;
  }
  return false;
}

}  // namespace

bool create_spool(const Plan& plan, SpoolPlace& place, std::string& why_not) {
  place.room = std::make_unique<recorder::MemoryRoom>(plan.spec.limits.host_memory, recording_here(plan));
  const std::string& named = plan.spec.limits.spool_folder;
  return create_in(plan, place, named.empty() ? "/dev/shm" : from_launch_folder(named), place.why_no_file) ||
         create_in(plan, place, "", why_not);
}

void link_spool(const Plan& plan, SpoolPlace& place) {
  if (recorder::path().empty()) return;
  const std::string name =
      ".rank" + std::to_string(plan.rank.rank) + "-" + std::to_string(getpid()) + "-" + random_text() + ".spool";
  const Descriptor folder = open_folder(plan.folder);
  if (folder && symlinkat(recorder::path().c_str(), folder.get(), name.c_str()) == 0) place.link = name;
}

void report_spool_place(const Plan& plan, const SpoolPlace& place) {
  if (recorder::path().empty()) {
    recorder::problem("spool", "events are kept in the memory of the process only: a SIGKILL loses them");
    if (plan.is_first_selected) {
      log::line(LogLevel::kWarn, "events are kept in the memory of the process only, a SIGKILL loses them: %s%s",
                place.why_no_file.c_str(),
                plan.spec.limits.spool_folder.empty() ? "; limits.spool_folder = \"PATH\" chooses another folder" : "");
    }
  }
  if (place.bytes < std::min(kComfortable, plan.spec.limits.host_memory) && plan.is_first_selected) {
    log::line(LogLevel::kWarn, "windows may be short: each process may use only %s of host memory for events (%s)",
              format_size(place.bytes).c_str(), recorder::reason_of(place.bound));
  }
}

void remove_spool(const Plan& plan, const SpoolPlace& place) {
  if (const Descriptor folder = open_folder(plan.folder); folder && !place.link.empty())
    unlinkat(folder.get(), place.link.c_str(), 0);
  if (!recorder::path().empty()) unlink(recorder::path().c_str());
}

}  // namespace profshim::session
