#include "types.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "handle_cache.h"
#include "profshim/recorder.h"

namespace profshim::mpi {
namespace {

constinit HandleCache datatypes;    // handle -> size << 16 | id
constinit HandleCache known_names;  // hash of name and size -> id, shared by types made in a loop
constinit HandleCache reductions;   // handle -> (number + 1) << 16 | id
constinit std::atomic<std::uint32_t> datatype_ids{0}, reduction_ids{0};

// Some programs make and free an operation per reduction: N of user_op_N is reused so that definitions do not run out.
// Beyond kNumbered, operations share one definition.
constexpr std::uint32_t kNumbered = 64;
constinit std::atomic<std::uint64_t> numbers_in_use{0};
constinit std::atomic<std::uint16_t> user_reduction_ids[kNumbered + 1];

std::uint32_t take_number() {
  std::uint64_t used = numbers_in_use.load(std::memory_order_relaxed);
  while (~used != 0) {
    const std::uint64_t lowest_free = ~used & (used + 1);
    if (numbers_in_use.compare_exchange_weak(used, used | lowest_free, std::memory_order_relaxed)) {
      return static_cast<std::uint32_t>(__builtin_ctzll(lowest_free));
    }
  }
  return kNumbered;
}

std::uint16_t next_id(std::atomic<std::uint32_t>& ids) {
  const std::uint32_t id = ids.fetch_add(1, std::memory_order_relaxed) + 1;
  return id <= 0xffff ? static_cast<std::uint16_t>(id) : 0;
}

std::uint64_t hash_of(std::string_view name, std::int64_t size) {
  std::uint64_t hash = 0xcbf29ce484222325ull ^ static_cast<std::uint64_t>(size);
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash | 4;  // avoids reserved keys
}

Handle null_datatype() {
  switch (abi().implementation) {
    case Implementation::kOpenMpi: {
      static const Handle null = data_handle("ompi_mpi_datatype_null");
      return null;
    }
    case Implementation::kMpich:
      return 0x0c000000;
    default:
      return 0x200;
  }
}

std::int64_t size_of(Handle type) {
  static constinit Query<int(Handle, std::int64_t*)> size_x{"PMPI_Type_size_x"};
  static constinit Query<int(Handle, int*)> size_int{"PMPI_Type_size"};
  std::int64_t size = 0;
  int small = 0;
  if (auto* const ask = size_x.get()) return ask(type, &size) == 0 && size > 0 ? size : 0;
  auto* const ask = size_int.get();
  return ask != nullptr && ask(type, &small) == 0 && small > 0 ? small : 0;
}

std::string_view name_of(Handle type, char (&buffer)[512]) {
  static constinit Query<int(Handle, char*, int*)> get_name{"PMPI_Type_get_name"};
  int length = 0;
  auto* const ask = get_name.get();
  if (ask == nullptr || ask(type, buffer, &length) != 0 || length <= 0) return "user_type";
  return {buffer, static_cast<std::size_t>(length)};
}

struct KnownOperation {
  std::string_view name;
  const char* open_mpi;
  std::uint32_t mpich, standard;
};
constexpr KnownOperation kOperations[] = {
    {"MPI_MAX", "ompi_mpi_op_max", 0x58000001, 0x23},         {"MPI_MIN", "ompi_mpi_op_min", 0x58000002, 0x22},
    {"MPI_SUM", "ompi_mpi_op_sum", 0x58000003, 0x21},         {"MPI_PROD", "ompi_mpi_op_prod", 0x58000004, 0x24},
    {"MPI_LAND", "ompi_mpi_op_land", 0x58000005, 0x30},       {"MPI_BAND", "ompi_mpi_op_band", 0x58000006, 0x28},
    {"MPI_LOR", "ompi_mpi_op_lor", 0x58000007, 0x31},         {"MPI_BOR", "ompi_mpi_op_bor", 0x58000008, 0x29},
    {"MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, 0x32},       {"MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, 0x2a},
    {"MPI_MINLOC", "ompi_mpi_op_minloc", 0x5800000b, 0x38},   {"MPI_MAXLOC", "ompi_mpi_op_maxloc", 0x5800000c, 0x39},
    {"MPI_REPLACE", "ompi_mpi_op_replace", 0x5800000d, 0x3c}, {"MPI_NO_OP", "ompi_mpi_op_no_op", 0x5800000e, 0x3d},
};

Handle handle_of(const KnownOperation& operation) {
  switch (abi().implementation) {
    case Implementation::kOpenMpi:
      return data_handle(operation.open_mpi);
    case Implementation::kMpich:
      return operation.mpich;
    default:
      return operation.standard;
  }
}

std::uint16_t define_reduction(std::string_view name) {
  const std::uint16_t id = next_id(reduction_ids);
  if (id != 0) recorder::define(spool::DefinitionKind::kReduction, id, recorder::intern(name));
  return id;
}

}  // namespace

Datatype datatype_of(Handle type) {
  type = normalized(type);
  if (const auto known = datatypes.find(type)) {
    return {static_cast<std::uint16_t>(*known), static_cast<std::int64_t>(*known >> 16)};
  }
  if (type == null_datatype() || type == 0) return {};
  Datatype datatype;
  char buffer[512];
  datatype.size = size_of(type);
  const std::string_view name = name_of(type, buffer);
  const std::uint64_t hash = hash_of(name, datatype.size);
  if (const auto known = known_names.find(hash)) {
    datatype.id = static_cast<std::uint16_t>(*known);
  } else if ((datatype.id = next_id(datatype_ids)) != 0) {
    recorder::define(spool::DefinitionKind::kDatatype, datatype.id, recorder::intern(name), 0, {datatype.size});
    known_names.insert(hash, datatype.id);
  }
  datatypes.insert(type, static_cast<std::uint64_t>(datatype.size) << 16 | datatype.id);
  return datatype;
}

std::uint16_t reduction_of(Handle op) {
  op = normalized(op);
  if (const auto known = reductions.find(op)) return static_cast<std::uint16_t>(*known);
  for (const KnownOperation& operation : kOperations) {
    if (handle_of(operation) == op) {
      const std::uint16_t id = define_reduction(operation.name);
      reductions.insert(op, id);
      return id;
    }
  }
  const std::uint32_t number = take_number();
  std::uint16_t id = user_reduction_ids[number].load(std::memory_order_relaxed);
  if (id == 0) {
    char name[32] = "user_op";
    if (number < kNumbered) std::snprintf(name, sizeof name, "user_op_%u", number);
    id = define_reduction(name);
    user_reduction_ids[number].store(id, std::memory_order_relaxed);
  }
  reductions.insert(op, std::uint64_t{number + 1} << 16 | id);
  return id;
}

void forget_datatype(Handle type) { datatypes.remove(normalized(type)); }

void forget_reduction(Handle op) {
  op = normalized(op);
  const std::uint64_t number_plus_one = reductions.find(op).value_or(0) >> 16;
  reductions.remove(op);
  if (number_plus_one == 0 || number_plus_one > kNumbered) return;
  numbers_in_use.fetch_and(~(std::uint64_t{1} << (number_plus_one - 1)), std::memory_order_relaxed);
}

}  // namespace profshim::mpi
