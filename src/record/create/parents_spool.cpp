#include "parents_spool.h"

#include <sys/mman.h>

#include "profshim/recorder_control.h"
#include "record/recorder_state.h"
#include "record/spool_memory.h"
#include "record/tables/tables.h"

namespace profshim::recorder {
namespace {

/// As it was when the child was made: the parent may go on.
struct ParentsSpool {
  const spool::SpoolHeader* header = nullptr;  // null = none, or adopted
  std::size_t mapped_bytes = 0;
  std::string_view texts;
  std::uint64_t definitions = 0;
};
constinit ParentsSpool parents;

/// The surviving thread of the parent may keep pointers to its block and to calls in flight: they then point to zeros,
/// which belong to nobody.
void give_back(const ParentsSpool& spool) {
  auto* const data = const_cast<char*>(reinterpret_cast<const char*>(spool.header));
  const std::size_t tables = spool.header->chunks_at;
  if (spool.mapped_bytes > tables) munmap(data + tables, spool.mapped_bytes - tables);
  (void)mmap(data, tables, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

void leave_parents_spool() {
  detail::this_thread = nullptr;
  detail::last_boundary = 0;
  detail::windows_opened = 0;
  free_window_table_locks();
  if (state.header == nullptr) return;
  parents = {state.header, spool_memory::mapped(), string_table::all_texts(), definitions_made()};
  spool_memory::forget();
  forget_tables();
}

std::string_view parents_texts() { return parents.texts; }

void adopt_from_parent() {
  if (parents.header == nullptr) return;
  const char* const table = reinterpret_cast<const char*>(parents.header) + parents.header->definitions_at;
  adopt_definitions({reinterpret_cast<const spool::Definition*>(table), parents.definitions});
  give_back(parents);
  parents = {};
}

}  // namespace profshim::recorder
