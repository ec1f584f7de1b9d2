#include "spool_place.h"

#include <unistd.h>

#include <algorithm>

#include "profshim/base/safe_files.h"
#include "profshim/base/size_text.h"
#include "profshim/device.h"
#include "session/participation/launch_environment.h"
#include "session/participation/participation.h"

namespace profshim::session {
namespace {

// If a file has less room, anonymous memory allows longer windows.
constexpr std::uint64_t kLeastFile = 32 << 20;
// Room for a million events.
constexpr std::uint64_t kComfortable = 64 << 20;

std::uint64_t recording_here(const State& s) {
  std::uint64_t selected = 0;
  for (int r = 0; r < s.rank.world_size; ++r) {
    Rank other;
    other.rank = r;
    other.world_size = s.rank.world_size;
    selected += records(s.spec, other) ? 1 : 0;
  }
  const auto here = static_cast<std::uint64_t>(std::max(1, s.rank.local_world_size));
  return std::clamp<std::uint64_t>(selected, 1, here);
}

std::string spool_name(const State& s) {
  return "profshim-" + std::to_string(getuid()) + "-rank" + std::to_string(s.rank.rank) + "-" +
         std::to_string(getpid()) + "-" + random_text() + ".spool";
}

bool create_in(State& s, const std::string& folder, std::string& why_not) {
  recorder::Room room = s.room->now(0, 0);
  if (!folder.empty()) {
    const std::uint64_t in_folder = s.room->room_in(folder);
    if (in_folder < std::min(kLeastFile, s.spec.limits.host_memory)) {
      why_not = folder + " has no room (" + format_size(in_folder) + " for this process)";
      return false;
    }
    if (in_folder < room.bytes) room = {in_folder, recorder::Bound::kFileSystem};
  }
  recorder::SpoolSize size;
  const std::uint64_t blocks = s.spec.activities.cpu && s.spec.profile_memory ? recorder::kBlockTableBytes : 0;
  if (!recorder::divide_memory(room.bytes, device::host_bytes(s.spec, room.bytes) + blocks,
                               !s.spec.counters.perf.empty(), size)) {
    why_not = std::string(recorder::reason_of(room.bound)) + ": " + format_size(room.bytes) + ", at least " +
              format_size(recorder::kLeastRoom) + " are needed";
    return false;
  }
  const std::string path = folder.empty() ? "" : folder + "/" + spool_name(s);
  // A small RLIMIT_FSIZE may allow a smaller spool.
  for (; size.chunks >= 16; size.chunks /= 4) {
    if (!recorder::create_spool(path, size, why_not)) continue;
    s.pool_bound = room.bound;
    s.memory = room.bytes;
    device::set_memory_budget(room.bytes);
    s.room->set_folder(folder);
    recorder::watch_room(s.room.get());
    return true;
  }
  return false;
}

}  // namespace

bool create_spool(State& s, std::string& why_not) {
  s.room = std::make_unique<recorder::MemoryRoom>(s.spec.limits.host_memory, recording_here(s));
  const std::string& named = s.spec.limits.spool_folder;
  return create_in(s, named.empty() ? "/dev/shm" : from_launch_folder(named), s.why_no_file) ||
         create_in(s, "", why_not);
}

void report_spool_place(State& s) {
  for (std::size_t i = 0; i < recorder::kBounds; ++i) {
    s.limit_of[i] = recorder::intern(recorder::reason_of(static_cast<recorder::Bound>(i)));
  }
  if (recorder::path().empty()) {
    recorder::problem("spool", "events are kept in the memory of the process only: a SIGKILL loses them");
    if (s.first_selected) {
      log::line(LogLevel::kWarn, "events are kept in the memory of the process only, a SIGKILL loses them: %s%s",
                s.why_no_file.c_str(),
                s.spec.limits.spool_folder.empty() ? "; limits.spool_folder = \"PATH\" chooses another folder" : "");
    }
  }
  if (s.memory < std::min(kComfortable, s.spec.limits.host_memory) && s.first_selected) {
    log::line(LogLevel::kWarn, "windows may be short: each process may use only %s of host memory for events (%s)",
              format_size(s.memory).c_str(), recorder::reason_of(s.pool_bound));
  }
}

void remove_spool(const State& s) {
  if (const Descriptor folder = open_folder(s.folder); folder && !s.spool_link.empty())
    unlinkat(folder.get(), s.spool_link.c_str(), 0);
  if (!recorder::path().empty()) unlink(recorder::path().c_str());
}

}  // namespace profshim::session
