#include "nccl.h"

#include "inject/nccl/call.h"
#include "inject/nccl/profiler.h"
#include "inject/nccl/rows.h"
#include "inject/nccl/version.h"
#include "inject/nvtx/payload/layout.h"

namespace profshim::nvtx {
namespace {

using nccl::Behavior;
using nccl::Row;

/// The outermost NCCL range of this thread.
struct OpenRange {
  std::uint32_t depth;  // open ranges in NCCL's domain
  bool begun;           // end_call() is due
  nccl::Call call;
  const Row* row;  // null = hooked already, or unknown
  nccl::CommunicatorInfo made;
  std::uint64_t hash;
};
thread_local constinit OpenRange range __attribute__((tls_model("initial-exec"))) = {};

HookId function_of(const nvtxEventAttributes_t& a) {
  if (a.messageType == NVTX_MESSAGE_TYPE_ASCII && a.message.ascii != nullptr) return hook_by_name(a.message.ascii);
  if (a.messageType != NVTX_MESSAGE_TYPE_REGISTERED || a.message.registered == nullptr) return HookId::kNone;
  return reinterpret_cast<const RegisteredString*>(a.message.registered)->function;
}

/// Older NCCL has fewer entries, some with other names.
class Payload {
 public:
  Payload(const Domain& domain, const nvtxPayloadData_t* data, std::size_t count)
      : layout_(domain), data_(data), count_(data != nullptr ? count : 0) {}
  std::uint64_t hash() const { return wide("NCCL communicator ID", 0); }
  std::uint64_t bytes() const { return wide("Message size [bytes]", wide("Bytes", 0)); }
  int op() const { return number("Reduction operation", -1); }
  int peer() const { return number("Root", number("Peer rank", kNone32)); }
  int ranks() const { return number("No. of ranks", nccl::kUnknown); }
  int rank() const { return number("Rank", nccl::kUnknown); }
  int device() const { return number("CUDA device", nccl::kUnknown); }

 private:
  std::uint64_t wide(std::string_view entry, std::uint64_t otherwise) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (layout_.find_integer(data_[i], entry, value)) return value;
    }
    return otherwise;
  }
  int number(std::string_view entry, int otherwise) const {
    return static_cast<int>(wide(entry, static_cast<std::uint64_t>(static_cast<std::int64_t>(otherwise))));
  }
  const PayloadLayout layout_;
  const nvtxPayloadData_t* data_;
  std::size_t count_;
};

Payload payload_of(const Domain& domain, const nvtxEventAttributes_t& a) {
  const bool extended = a.payloadType == NVTX_PAYLOAD_TYPE_EXT && a.reserved0 > 0;
  return {domain, extended ? reinterpret_cast<const nvtxPayloadData_t*>(a.payload.ullValue) : nullptr,
          extended ? static_cast<std::size_t>(a.reserved0) : 0};
}

void note_made(const Payload& payload) {
  if (const std::uint64_t hash = payload.hash()) range.hash = hash;
  if (const int ranks = payload.ranks(); ranks > 0) range.made.size = ranks;
  if (const int rank = payload.rank(); rank >= 0) range.made.rank = rank;
  if (const int device = payload.device(); device >= 0) range.made.device = device;
}

void begin(const Row& row, const Payload& payload) {
  const std::uint32_t mode = recorder::mode();
  const bool only_counted = (mode & (recorder::kArmed | recorder::kHookSteps)) == 0;
  if (mode == 0 || (only_counted && row.behavior != Behavior::Collective)) return;
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) return recorder::lose_event(recorder::kNccl);
  nccl::Arguments arguments;
  // In a function that makes a communicator, the hash is the new communicator's.
  if (!nccl::makes_communicator(row.behavior)) arguments.comm = nccl::handle_of_hash(payload.hash());
  if (only_counted) return nccl::count_collective(arguments.comm);
  arguments.bytes = payload.bytes();
  arguments.op = payload.op();
  arguments.peer = payload.peer();
  range.call = nccl::Call{};
  range.call.row = &row;
  range.call.thread = thread;
  nccl::begin_call(range.call, arguments, true);
  range.begun = true;
  nccl::detail::inside_nvtx_range = true;
}

bool is_hooked() {
  if (nccl::group::state.hooked) return true;
  const spool::Thread* const thread = recorder::known_thread();
  return thread != nullptr && thread->outermost[static_cast<int>(Layer::kNccl)] != 0;
}

}  // namespace

int nccl_push(Domain& domain, const nvtxEventAttributes_t* a) {
  if (range.depth++ != 0) return NVTX_NO_PUSH_POP_TRACKING;
  range.row = a != nullptr && a->size >= sizeof *a && !is_hooked() ? nccl::find_row(function_of(*a)) : nullptr;
  if (range.row == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  const Payload payload = payload_of(domain, *a);
  range.made = nccl::CommunicatorInfo{};
  range.hash = 0;
  if (nccl::makes_communicator(range.row->behavior)) note_made(payload);
  if (range.row->behavior == Behavior::Initialize) nccl::activate_by_communicator(range.made.rank, range.made.size);
  if (range.row->behavior == Behavior::Initialize || range.row->behavior == Behavior::InitializeAll) {
    nccl::profiler::offer();
  }
  begin(*range.row, payload);
  return NVTX_NO_PUSH_POP_TRACKING;
}

int nccl_pop(Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  if (range.depth == 0 || --range.depth != 0 || range.row == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  const Row& row = *range.row;
  range.row = nullptr;
  nccl::Communicator* made = nullptr;
  if (nccl::makes_communicator(row.behavior) && recorder::mode() != 0) {
    note_made(Payload(domain, payloads, count));
    const nccl::Handle handle = nccl::handle_of_hash(range.hash);
    range.made.identity = nccl::identity_of_hash(handle);
    range.made.name = nccl::origin_text("init", nullptr);
    made = nccl::add_communicator(handle, range.made, true);
    nccl::note_version_by_nvtx();
  }
  if (range.begun) {
    range.begun = false;
    nccl::detail::inside_nvtx_range = false;
    nccl::end_call(range.call, nccl::kSuccess, made);
  }
  if (row.behavior == Behavior::GroupStart) nccl::group::enter(nccl::kSuccess);
  if (row.behavior == Behavior::GroupEnd || row.behavior == Behavior::GroupCancel) nccl::group::leave();
  return NVTX_NO_PUSH_POP_TRACKING;
}

}  // namespace profshim::nvtx
