// Event: what one intercepted call is, 64 bytes, plain data. Filled by the hooks in inject/, copied once into the
// spool, turned into trace events by src/spool. HookId is made from the tables in hooks/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "profshim/base.h"

namespace profshim {

/// Which family a call belongs to. Re-entrancy is guarded per layer: an MPI call inside an MPI call is not recorded.
enum class Layer : std::uint8_t { kNone, kMpi, kNvtx, kCount };

/// One id per function: the first column of every row of the tables.
enum class HookId : std::uint16_t {
  kNone,
  kNvtxRange,     // push/pop or start/end
  kNvtxMark,      // an instant
  kStep,          // a step boundary (instant)
  kContinuation,  // second half of the event before it on the same thread (MPI_Sendrecv: the receive)
#define HOOK(name, ...) name,
#include "profshim/hooks/mpi.def"
#undef HOOK
  kCount
};

/// "MPI_Allreduce"; "" for what is no function.
std::string_view hook_name(HookId hook);
Layer hook_layer(HookId hook);
/// The row with that exact name, or kNone.
HookId hook_by_name(std::string_view name);

/// Index into the spool's string table; 0 = none.
using StringId = std::uint32_t;

inline constexpr std::int32_t kNone32 = std::numeric_limits<std::int32_t>::min();

struct MpiArgs {
  std::uint64_t bytes;     // payload in bytes of this rank's buffer (see inject/mpi_hooks.cpp for each family)
  std::uint64_t count;     // elements
  std::uint32_t comm;      // Definition id of kind kCommunicator; 0 = none
  std::uint32_t sequence;  // 1, 2, ... per communicator over its collectives; 0 = not a collective
  std::int32_t peer;       // root, destination or source in the communicator; kNone32 = none
  std::int32_t tag;        // kNone32 = none
  std::uint16_t datatype;  // Definition id of kind kDatatype; 0 = none
  std::uint16_t op;        // Definition id of kind kReduction; 0 = none
  std::uint32_t request;   // joins the post of a non-blocking operation to its async slice; 0 = blocking
};

struct NvtxArgs {
  std::uint64_t payload;      // raw bits; meaning by payload_type
  std::uint32_t domain;       // Definition id of kind kNvtxDomain; 0 = default domain
  std::uint32_t category;     // the caller's number; its name is a Definition of kind kNvtxCategory
  std::uint32_t color;        // ARGB; 0 = none
  std::uint32_t extended;     // StringId of an extended payload already rendered as JSON; 0 = none
  std::uint8_t payload_type;  // nvtxPayloadType_t; 0 = none
  std::uint8_t reserved[3];
  std::int32_t start_tid;  // kStartEnd: the thread that began the range; else 0
  std::uint64_t reserved2;
};
static_assert(sizeof(NvtxArgs) == 40 && sizeof(MpiArgs) == 40);

struct StepArgs {
  std::int64_t index;   // 0-based count of boundaries
  std::int64_t number;  // number read from the marker's name, or kNoStepNumber
  std::uint64_t reserved[3];
};
inline constexpr std::int64_t kNoStepNumber = std::numeric_limits<std::int64_t>::min();

/// Event::flags
enum : std::uint8_t {
  kAsyncSlice = 1,  // begin..end is post..completion of a non-blocking operation: drawn as b/e, not as a slice
  kContinues = 2,   // the next event of this thread is its kContinuation
  kStartEnd = 4,    // NVTX start/end: may begin and end on different threads
  kUnfinished = 8,  // still open when the window or the process ended
  kFortran = 16,    // called through a Fortran binding
  kFailed = 32,     // the real function returned an error
};

struct alignas(64) Event {
  Ticks begin = 0;
  Ticks end = 0;
  HookId hook = HookId::kNone;
  std::uint8_t flags = 0;
  std::uint8_t reserved = 0;
  StringId name = 0;  // what is variable in the name: an NVTX message, a step's marker
  union {
    MpiArgs mpi;
    NvtxArgs nvtx;
    StepArgs step;
    std::uint64_t raw[5] = {};
  };
};
static_assert(sizeof(Event) == 64);

}  // namespace profshim
