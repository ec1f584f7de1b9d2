#include "parent.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "activation.h"
#include "profshim/base/process/process_words.h"
#include "profshim/base/text/number_text.h"

namespace profshim::inject {
namespace {

// Environment entry for child processes, rewritten in place. Value: "PID:RANK". PID is that of the process that
// records; -PID while that process waits for its rank; 0 before. RANK is that of its environment, -1 = none.
constexpr std::size_t kPrefix = sizeof("PROFSHIM_ACTIVE=") - 1;
char active_entry[kPrefix + 32] = "PROFSHIM_ACTIVE=0:-1";

struct Parent {
  bool records = false, waits = false, has_forked = false, has_library = false;
  int rank = -1;
};
constinit Parent parent;

/// The rank of the environment when this process began, or when it told its children.
constinit int own_rank = -1;

void tell_children(long pid) {
  own_rank = rank_from_environment().rank;
  std::snprintf(active_entry + kPrefix, sizeof active_entry - kPrefix, "%ld:%d", pid, own_rank);
}

void note_told(std::string_view told) {
  long pid = 0;
  take_number(told, pid);
  int rank = -1;
  if (take_character(told, ':')) take_number(told, rank);
  // A recording rank that calls exec() finds its own pid here: the new program records again.
  parent.records = pid > 0 && pid != getpid();
  parent.waits = pid < 0 && pid != -getpid();
  if (has_parent()) parent.rank = rank;
}

}  // namespace

void note_parent() {
  own_rank = rank_from_environment().rank;
  if (const char* const told = std::getenv("PROFSHIM_ACTIVE")) {
    parent.has_library = true;
    note_told(told);
    // Children of this process see its parent until it has told them more.
    if (has_parent()) std::snprintf(active_entry + kPrefix, sizeof active_entry - kPrefix, "%s", told);
  }
  putenv(active_entry);
  process_words.is_known = true;
}

bool know_process() {
  if (process_words.is_known.load(std::memory_order_acquire)) return true;
  if (process_words.is_leaving.exchange(true)) return false;
  note_told(active_entry + kPrefix);
  parent.has_forked = true;
  parent.rank = own_rank;
  leave_parent();
  process_words.is_known.store(true, std::memory_order_release);
  return true;
}

bool has_parent() { return parent.records || parent.waits || parent.has_forked; }
bool has_recording_parent() { return parent.records; }
bool has_loaded_ancestor() { return parent.has_library; }
bool is_forked() { return parent.has_forked; }
bool is_rank_of_parent(const Rank& rank) { return rank.rank < 0 || (has_parent() && rank.rank == parent.rank); }

Rank rank_in_group(int rank, int size, const char* source) {
  Rank known = rank_from_environment();
  if (!is_rank_of_parent(known)) return known;
  const bool has_parents = known.rank >= 0;
  known = rank_from_program(rank, size, source);
  if (has_parents) known.local_rank = known.local_world_size = known.node_rank = -1;
  return known;
}

void tell_children_recording() { tell_children(getpid()); }
void tell_children_waiting() { tell_children(-getpid()); }

}  // namespace profshim::inject
