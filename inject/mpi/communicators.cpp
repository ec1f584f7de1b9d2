#include "communicators.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "handle_cache.h"
#include "inject/core/handle_table.h"
#include "lifecycle.h"
#include "profshim/recorder.h"

namespace profshim::mpi {
namespace {

constinit inject::HandleTable<Communicator, 1u << 14> table;
constinit std::atomic<std::uint32_t> last_id{2};
constinit HandleCache made_by_members;  // identity -> communicators with it so far
constinit Handle world_group = 0;
constinit std::atomic<bool> are_predefined_missing{false};
/// Part of each identity if the recording began after MPI_Init; else 0. Ranks have not counted the same collectives
/// then, so it differs between ranks.
constinit std::atomic<std::uint64_t> rank_salt{0};

constinit Query<int(Handle, int*)> ask_size{"PMPI_Comm_size"}, ask_rank{"PMPI_Comm_rank"},
    ask_remote_size{"PMPI_Comm_remote_size"}, ask_is_inter{"PMPI_Comm_test_inter"};
constinit Query<int(Handle, Handle*)> ask_group{"PMPI_Comm_group"}, ask_remote_group{"PMPI_Comm_remote_group"};
constinit Query<int(Handle*)> free_group{"PMPI_Group_free"};
constinit Query<int(Handle, int, const int*, Handle, int*)> translate_ranks{"PMPI_Group_translate_ranks"};

int ask(Query<int(Handle, int*)>& query, Handle comm, int otherwise) {
  int value = otherwise;
  auto* const function = query.get();
  return function != nullptr && function(comm, &value) == 0 ? value : otherwise;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

class Group {
 public:
  Group(Query<int(Handle, Handle*)>& query, Handle comm) {
    auto* const function = query.get();
    if (function == nullptr || function(comm, &group_) != 0) group_ = 0;
  }
  ~Group() {
    if (group_ != 0 && free_group.get() != nullptr) free_group.get()(&group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Calls `each` with every member's rank in MPI_COMM_WORLD; negative = none.
  template <class Each>
  bool each_world_rank(int size, Each&& each) const {
    constexpr int kBlock = 256;
    int ranks[kBlock], world[kBlock];
    if (group_ == 0 || world_group == 0 || translate_ranks.get() == nullptr) return false;
    for (int first = 0; first < size; first += kBlock) {
      const int n = size - first < kBlock ? size - first : kBlock;
      for (int i = 0; i < n; ++i) ranks[i] = first + i;
      if (translate_ranks.get()(group_, n, ranks, world_group, world) != 0) return false;
      for (int i = 0; i < n; ++i) each(world[i]);
    }
    return true;
  }

 private:
  Handle group_ = 0;
};

std::uint64_t hash_of_members(Query<int(Handle, Handle*)>& query, Handle comm, int size) {
  std::uint64_t hash = mix(0x70726f667368696dull, static_cast<std::uint64_t>(size));
  const Group group(query, comm);
  group.each_world_rank(size, [&](int rank) { hash = mix(hash, static_cast<std::uint32_t>(rank)); });
  return hash;
}

StringId world_ranks_text(Handle comm, int size) {
  constexpr std::size_t kLongestRank = 12;
  const std::size_t room = static_cast<std::size_t>(size) * kLongestRank + 2;
  const std::unique_ptr<char[]> text(new (std::nothrow) char[room]);
  if (text == nullptr) return 0;
  std::size_t used = 0;
  bool all_known = true;
  text[used++] = '[';
  const Group group(ask_group, comm);
  const bool known = group.each_world_rank(size, [&](int rank) {
    all_known = all_known && rank >= 0;
    used += static_cast<std::size_t>(std::snprintf(text.get() + used, room - used, used > 1 ? ", %d" : "%d", rank));
  });
  if (!known || !all_known) return 0;
  text[used++] = ']';
  return recorder::intern({text.get(), used}, spool::kMaxText);
}

Communicator* claim(Handle handle) {
  Communicator* const entry = table.claim(handle);
  if (entry == nullptr) {
    recorder::missing("mpi",
                      "more than 16384 communicators at a time: calls on further communicators show no communicator");
  }
  return entry;
}

struct CommunicatorInfo {
  std::uint64_t identity;
  std::uint32_t id, parent;
  int size, peers, rank;
  StringId name;
};

Communicator* add(Handle handle, const CommunicatorInfo& info) {
  Communicator* const entry = claim(handle);
  if (entry == nullptr) return nullptr;
  const std::uint64_t salt = rank_salt.load(std::memory_order_relaxed);
  entry->identity = salt == 0 ? info.identity : mix(info.identity, salt);
  entry->id = info.id != 0 ? info.id : last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  entry->parent = info.parent;
  entry->size = info.size;
  entry->peers = info.peers;
  entry->rank = info.rank;
  entry->name = info.name;
  entry->sequence.store(0, std::memory_order_relaxed);
  entry->created.store(0, std::memory_order_relaxed);
  entry->neighbors.store(-1, std::memory_order_relaxed);
  entry->defined.store(false, std::memory_order_relaxed);
  table.publish(*entry, handle);
  return entry;
}

void begin_after_initialization() {
  rank_salt.store(static_cast<std::uint64_t>(ask(ask_rank, abi().world, 0)) + 1);
  recorder::problem(
      "mpi",
      "the recording began after MPI_Init: collectives of several ranks cannot be matched; add \"mpi\" to "
      "process.require_any");
  begin_with_world();
}

StringId origin_text(const char* made, const Communicator* parent) {
  char text[160];
  const std::string_view from = parent != nullptr ? recorder::text_of(parent->name) : std::string_view{};
  if (from.empty()) return recorder::intern(made);
  const int n = std::snprintf(text, sizeof text, "%s of %.*s", made, static_cast<int>(from.size()), from.data());
  return recorder::intern(
      {text, static_cast<std::size_t>(n) < sizeof text ? static_cast<std::size_t>(n) : sizeof text - 1});
}

/// `salt` distinguishes communicators with equal members.
Communicator* query_and_add(Handle handle, const Communicator* parent, const char* made, std::uint64_t salt) {
  const int size = ask(ask_size, handle, 0);
  const bool inter = ask(ask_is_inter, handle, 0) != 0;
  const int remote = inter ? ask(ask_remote_size, handle, 0) : 0;
  std::uint64_t members = hash_of_members(ask_group, handle, size);
  if (inter) {  // both sides must compute the same identity
    const std::uint64_t others = hash_of_members(ask_remote_group, handle, remote);
    members = members < others ? mix(members, others) : mix(others, members);
  }
  return add(handle, {mix(members, salt), 0, parent != nullptr ? parent->id : 0, size, inter ? remote : size,
                      ask(ask_rank, handle, kNone32), origin_text(made, parent)});
}

bool is_null(Handle handle) { return handle == abi().comm_null || handle == 0; }

std::uint64_t count_creation(Communicator& parent) {
  return mix(parent.identity, parent.created.fetch_add(1, std::memory_order_relaxed) + 1);
}

void define(Communicator& comm, Handle handle) {
  static constinit Query<int(Handle, char*, int*)> get_name{"PMPI_Comm_get_name"};
  char given[512];
  int length = 0;
  StringId name = comm.name;
  if (get_name.get() != nullptr && get_name.get()(handle, given, &length) == 0 && length > 0) {
    name = recorder::intern({given, static_cast<std::size_t>(length)});
  }
  if (comm.peers != comm.size || ask(ask_is_inter, handle, 0) != 0) {
    char text[600];
    const std::string_view base = recorder::text_of(name);
    const int n =
        std::snprintf(text, sizeof text, "%.*s (%d remote)", static_cast<int>(base.size()), base.data(), comm.peers);
    if (n > 0 && static_cast<std::size_t>(n) < sizeof text)
      name = recorder::intern({text, static_cast<std::size_t>(n)});
  }
  recorder::define(spool::DefinitionKind::kCommunicator, comm.id, name, world_ranks_text(handle, comm.size),
                   {static_cast<std::int64_t>(comm.identity), comm.size, comm.rank, comm.parent});
}

}  // namespace

void define_predefined_communicators_at_first_call() { are_predefined_missing.store(true); }

void define_predefined_communicators() {
  const Handle world = abi().world;
  if (ask_group.get() == nullptr || ask_group.get()(world, &world_group) != 0) world_group = 0;
  const int size = ask(ask_size, world, 0), rank = ask(ask_rank, world, kNone32);
  const std::uint64_t all = hash_of_members(ask_group, world, size);
  const std::uint64_t own = mix(hash_of_members(ask_group, abi().self, 1), 0x73656c66);
  Communicator* const w = add(world, {all, 1, 0, size, size, rank, recorder::intern("MPI_COMM_WORLD")});
  Communicator* const s = add(abi().self, {own, 2, 0, 1, 1, 0, recorder::intern("MPI_COMM_SELF")});
  if (w != nullptr) defined_id(*w);
  if (s != nullptr) defined_id(*s);
}

Communicator* communicator_of(Handle comm) {
  comm = normalized(comm);
  Communicator* const known = table.find(comm);
  if (__builtin_expect(known != nullptr, 1)) return known;
  if (is_null(comm)) return nullptr;
  if (are_predefined_missing.exchange(false)) {
    begin_after_initialization();
    if (Communicator* const predefined = table.find(comm)) return predefined;
  }
  return query_and_add(comm, nullptr, "communicator", 0);
}

thread_local constinit Communicator* detail::last_counted = nullptr;

void detail::count_on_another(Handle comm) {
  Communicator* const known = communicator_of(comm);
  if (known == nullptr) return;
  next_sequence(*known);
  last_counted = known;
}

std::uint32_t defined_id(Communicator& comm) {
  if (__builtin_expect(!comm.defined.load(std::memory_order_relaxed), 0) &&
      !comm.defined.exchange(true, std::memory_order_relaxed)) {
    define(comm, comm.handle.load(std::memory_order_relaxed));
  }
  return comm.id;
}

int neighbors_of(Communicator& comm) {
  static constinit Query<int(Handle, int*)> topology{"PMPI_Topo_test"}, dimensions{"PMPI_Cartdim_get"};
  static constinit Query<int(Handle, int, int*)> graph_count{"PMPI_Graph_neighbors_count"};
  static constinit Query<int(Handle, int*, int*, int*)> distributed_count{"PMPI_Dist_graph_neighbors_count"};
  const int known = comm.neighbors.load(std::memory_order_relaxed);
  if (known >= 0) return known;
  const Handle handle = comm.handle.load(std::memory_order_relaxed);
  const int kind = ask(topology, handle, 0);
  int count = 0, incoming = 0, weighted = 0;
  if (kind == abi().cartesian) {
    count = 2 * ask(dimensions, handle, 0);
  } else if (kind == abi().graph && graph_count.get() != nullptr) {
    if (graph_count.get()(handle, comm.rank, &count) != 0) count = 0;
  } else if (kind == abi().distributed_graph && distributed_count.get() != nullptr) {
    if (distributed_count.get()(handle, &incoming, &count, &weighted) != 0) count = 0;
  }
  comm.neighbors.store(count, std::memory_order_relaxed);
  return count;
}

void add_communicator(Communicator* parent, Handle created, const char* made) {
  const std::uint64_t salt = parent != nullptr ? count_creation(*parent) : 0;
  if (is_null(normalized(created))) return;
  forget_communicator(created);  // stale if freed by PMPI_Comm_free, which has no hook
  query_and_add(normalized(created), parent, made, salt);
}

void add_communicator_of_members(Communicator* parent, Handle created, const char* made, std::uint64_t tag) {
  created = normalized(created);
  if (is_null(created)) return;
  forget_communicator(created);
  Communicator* const entry = query_and_add(created, parent, made, tag);
  if (entry == nullptr) return;
  // All members make a communicator together, so all count the same number.
  const std::uint64_t key = entry->identity | 4;
  const std::uint64_t before = made_by_members.find(key).value_or(0);
  made_by_members.remove(key);
  made_by_members.insert(key, before + 1);
  entry->identity = mix(entry->identity, before);
}

void add_duplicate(Communicator& parent, Handle created, const char* made) {
  created = normalized(created);
  const std::uint64_t salt = count_creation(parent);
  if (!is_null(created)) {
    forget_communicator(created);
    add(created,
        {mix(parent.identity, salt), 0, parent.id, parent.size, parent.peers, parent.rank, origin_text(made, &parent)});
  }
}

Communicator* forget_communicator(Handle comm) { return table.remove(normalized(comm)); }

void restore_communicator(Communicator* comm, Handle handle) {
  if (comm != nullptr) table.restore(*comm, normalized(handle));
}

void rename_communicator(Handle comm) {
  Communicator* const entry = table.find(normalized(comm));
  if (entry != nullptr && entry->defined.load(std::memory_order_relaxed)) define(*entry, normalized(comm));
}

}  // namespace profshim::mpi
