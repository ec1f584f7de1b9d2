// NCCL calls these functions on threads of the job, of NCCL (non-blocking communicators) and of CUDA (captured graphs).
#include "inject/nccl/profiler.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdio>

#include "abi.h"
#include "inject/nccl/call.h"
#include "profshim/hooks/ids.h"
#include "profshim/recorder.h"
#include "profshim/trace/schema.h"

namespace profshim::nccl::profiler {

constinit std::atomic<bool> detail::offered{false}, detail::loaded{false};

namespace {

constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kNccl;

/// Handle of communicators and plans: NCCL would report nothing for a null handle.
constinit char dummy = 0;

const Event* recorded_call() {
  const spool::Thread* const thread = recorder::known_thread();
  if (thread == nullptr) return nullptr;
  for (std::uint32_t i = thread->open_calls; i-- > 0;) {
    const Event& call = thread->open[i];
    if (call.begin != 0 && hook_layer(call.hook) == Layer::kNccl) return &call;
  }
  return nullptr;
}

bool launches_at_once(const Event& call) { return call.nccl.operation != 0 && call.hook != hooks::ncclGroupEnd; }

/// Returns the begin of the recorded call on this thread, which identifies the call; 0 = none.
Ticks enqueuing_call() {
  const Event* const call = recorded_call();
  return call != nullptr && launches_at_once(*call) ? call->begin : 0;
}

/// As enqueuing_call(), for interface v4: 0 unless the call launches exactly one operation.
Ticks launching_call() {
  const Event* const call = recorded_call();
  if (call == nullptr) return 0;
  if (call->hook == hooks::ncclGroupEnd) return group::state.single_call;
  return launches_at_once(*call) && call->nccl.group == 0 ? call->begin : 0;
}

void* as_handle(Ticks call) { return reinterpret_cast<void*>(call); }
Ticks as_call(const void* handle) { return reinterpret_cast<Ticks>(handle); }

StringId text(const char* literal) {
  return literal != nullptr && *literal != 0 ? recorder::intern_literal(literal) : 0;
}

void commit(NcclTaskArgs args) {
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) return recorder::lose_event(recorder::kNccl);
  Event event;
  event.hook = HookId::kNcclTask;
  event.begin = event.end = ticks();
  event.nccl_task = args;
  recorder::commit(*thread, event);
}

void commit(const CollectiveTask& task, Ticks call) {
  commit({.call = call,
          .sequence = task.sequence,
          .function = text(task.function),
          .algorithm = text(task.algorithm),
          .protocol = text(task.protocol),
          .channels = task.channels,
          .warps = task.warps,
          .is_collective = 1,
          .reserved = {}});
}

void commit(const PointToPointTask& task, Ticks call) {
  commit({.call = call,
          .sequence = 0,
          .function = text(task.function),
          .algorithm = 0,
          .protocol = 0,
          .channels = task.channels,
          .warps = 0,
          .is_collective = 0,
          .reserved = {}});
}

/// NCCL calls init() for each communicator.
void note_interface_version(int version) {
  if (detail::loaded.exchange(true, std::memory_order_relaxed) || recorder::mode() == 0) return;
  char json[16];
  std::snprintf(json, sizeof json, "%d", version);
  recorder::add_metadata(schema::ours::kNcclProfilerVersion, json);
}

int begin_communicator(void** context, int* mask, std::uint64_t wanted, int version) {
  const int saved_errno = errno;
  *context = &dummy;
  *mask = recorder::mode_has(recorder::kActive | recorder::kNccl) ? static_cast<int>(wanted) : 0;
  note_interface_version(version);
  errno = saved_errno;
  return kSuccess;
}

int init_v4(void** context, int* mask, const char*, std::uint64_t, int, int, int, void (*)()) {
  return begin_communicator(context, mask, kCollective | kPointToPoint, 4);
}
template <int version>
int init_v5(void** context, std::uint64_t, int* mask, const char*, int, int, int, void (*)()) {
  return begin_communicator(context, mask, kCollective | kPointToPoint | kCollectiveCall | kPointToPointCall, version);
}

int start_v4(void*, void** handle, DescriptionV4* description) {
  *handle = description->type == kGroup ? &dummy : nullptr;
  if (!recorder::mode_has(kRecording)) return kSuccess;
  const int saved_errno = errno;
  if (description->type == kCollective) commit(description->collective, launching_call());
  if (description->type == kPointToPoint) commit(description->point_to_point, launching_call());
  errno = saved_errno;
  return kSuccess;
}

/// Always writes the handle: NCCL would otherwise use the thread's previous one.
int start_v5(void*, void** handle, DescriptionV5* description) {
  *handle = nullptr;
  if (!recorder::mode_has(kRecording)) return kSuccess;
  const int saved_errno = errno;
  const Ticks call = as_call(description->parent);
  switch (description->type) {
    case kCollectiveCall:
    case kPointToPointCall:
      *handle = as_handle(enqueuing_call());
      break;
    case kCollective:
      if (call != 0) commit(description->collective, call);
      break;
    case kPointToPoint:
      if (call != 0) commit(description->point_to_point, call);
      break;
    default:
      break;
  }
  errno = saved_errno;
  return kSuccess;
}

int stop(void*) { return kSuccess; }
int record_state(void*, int, void*) { return kSuccess; }
int finalize(void*) { return kSuccess; }

constexpr TableV4 table_v4 = {"profshim", init_v4, start_v4, stop, record_state, finalize};
constexpr TableV5 table_v5 = {"profshim", init_v5<5>, start_v5, stop, record_state, finalize};
constexpr TableV5 table_v6 = {"profshim", init_v5<6>, start_v5, stop, record_state, finalize};

using Symbol = void();

Symbol* resolve_table(const void* table, const char* name) {
  if (detail::offered.load(std::memory_order_relaxed)) {
    return reinterpret_cast<Symbol*>(reinterpret_cast<std::uintptr_t>(table));
  }
  void* next = dlsym(RTLD_NEXT, name);
  __asm__ volatile("" : "+r"(next));  // prevents a tail call: dlsym() identifies its caller by the return address
  return reinterpret_cast<Symbol*>(next);
}

}  // namespace
}  // namespace profshim::nccl::profiler

// The tables are indirect functions (IFUNC), which each dlsym() resolves: until offer(), lookups find the same as
// without this library. Data symbols would hide the job's table: with STATIC_PLUGIN, NCCL searches the whole process.
#define PROFILER_TABLE(name, table)                                                          \
  extern "C" {                                                                               \
  profshim::nccl::profiler::Symbol* profshim_find_##name() {                                 \
    return profshim::nccl::profiler::resolve_table(&profshim::nccl::profiler::table, #name); \
  }                                                                                          \
  [[gnu::visibility("default"), gnu::ifunc("profshim_find_" #name)]] void name();            \
  }
PROFILER_TABLE(ncclProfiler_v4, table_v4)
PROFILER_TABLE(ncclProfiler_v5, table_v5)
PROFILER_TABLE(ncclProfiler_v6, table_v6)
