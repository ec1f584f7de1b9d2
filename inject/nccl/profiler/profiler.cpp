// The tables that NCCL calls. On the job's threads, NCCL's and CUDA's; all of it returns ncclSuccess, takes no lock and
// allocates nothing.
#include "profiler.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdio>

#include "abi.h"
#include "inject/nccl/call.h"
#include "profshim/recorder.h"

namespace profshim::nccl::profiler {

constinit std::atomic<bool> detail::offered{false}, detail::loaded{false};

namespace {

constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kNccl;

/// What NCCL takes for something of ours, where a null would mean that we do not want to hear of it again.
constinit char something = 0;

/// The open NCCL call of this thread that is recorded; null when there is none.
const Event* recorded_call() {
  const spool::Thread* const thread = recorder::known_thread();
  if (thread == nullptr) return nullptr;
  for (std::uint32_t i = thread->open_calls; i-- > 0;) {
    const Event& call = thread->open[i];
    if (call.begin != 0 && hook_layer(call.hook) == Layer::kNccl) return &call;
  }
  return nullptr;
}

bool launches_at_once(const Event& call) { return call.nccl.operation != 0 && call.hook != HookId::ncclGroupEnd; }

/// The call that NCCL is taking an operation from, by when it began: no other of this thread has begun then, and the
/// trace leaves out what two threads have begun at once. 0 = it is not recorded.
Ticks call_that_enqueues() {
  const Event* const call = recorded_call();
  return call != nullptr && launches_at_once(*call) ? call->begin : 0;
}

/// v4: a task that runs inside of the call whose only operation it is.
Ticks call_that_launches() {
  const Event* const call = recorded_call();
  if (call == nullptr) return 0;
  if (call->hook == HookId::ncclGroupEnd) return group::state.only_call;
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

void commit(const MessageTask& task, Ticks call) {
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

/// One for the process, though NCCL asks for every communicator.
void say_version(int version) {
  if (detail::loaded.exchange(true, std::memory_order_relaxed) || recorder::mode() == 0) return;
  char json[16];
  std::snprintf(json, sizeof json, "%d", version);
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern("nccl_profiler_version"), recorder::intern(json));
}

int begin_communicator(void** context, int* mask, std::uint64_t wanted, int version) {
  const int saved_errno = errno;
  *context = &something;
  *mask = recorder::mode_has(recorder::kActive | recorder::kNccl) ? static_cast<int>(wanted) : 0;
  say_version(version);
  errno = saved_errno;
  return kSuccess;
}

int init_v4(void** context, int* mask, const char*, std::uint64_t, int, int, int, void (*)()) {
  return begin_communicator(context, mask, kCollective | kMessage, 4);
}
template <int version>
int init_v5(void** context, std::uint64_t, int* mask, const char*, int, int, int, void (*)()) {
  return begin_communicator(context, mask, kCollective | kMessage | kCollectiveCall | kMessageCall, version);
}

int start_v4(void*, void** handle, DescriptionV4* description) {
  *handle = description->type == kGroup ? &something : nullptr;
  if (!recorder::mode_has(kRecording)) return kSuccess;
  const int saved_errno = errno;
  if (description->type == kCollective) commit(description->collective, call_that_launches());
  if (description->type == kMessage) commit(description->message, call_that_launches());
  errno = saved_errno;
  return kSuccess;
}

/// The handle of a call is always written: NCCL keeps the last one of the thread otherwise.
int start_v5(void*, void** handle, DescriptionV5* description) {
  *handle = nullptr;
  if (!recorder::mode_has(kRecording)) return kSuccess;
  const int saved_errno = errno;
  const Ticks call = as_call(description->parent);
  switch (description->type) {
    case kCollectiveCall:
    case kMessageCall:
      *handle = as_handle(call_that_enqueues());
      break;
    case kCollective:
      if (call != 0) commit(description->collective, call);
      break;
    case kMessage:
      if (call != 0) commit(description->message, call);
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

/// What a look-up of one of our three symbols finds.
Symbol* found(const void* table, const char* name) {
  if (detail::offered.load(std::memory_order_relaxed)) {
    return reinterpret_cast<Symbol*>(reinterpret_cast<std::uintptr_t>(table));
  }
  void* next = dlsym(RTLD_NEXT, name);
  __asm__ volatile("" : "+r"(next));  // no tail call: dlsym takes its caller from the return address
  return reinterpret_cast<Symbol*>(next);
}

}  // namespace
}  // namespace profshim::nccl::profiler

// Not data but indirect functions, which the look-up itself calls: NCCL takes the highest version it finds, so that
// with NCCL_PROFILER_PLUGIN=STATIC_PLUGIN, which searches the whole process, tables of ours would come before one of
// the job's in an older version or a later library. Until we have offered ourselves there is nothing to be found here
// but what would be found without us. No program is bound to such a symbol: NCCL knows them by dlsym alone.
#define PROFILER_TABLE(name, table)                                                  \
  extern "C" {                                                                       \
  profshim::nccl::profiler::Symbol* profshim_find_##name() {                         \
    return profshim::nccl::profiler::found(&profshim::nccl::profiler::table, #name); \
  }                                                                                  \
  [[gnu::visibility("default"), gnu::ifunc("profshim_find_" #name)]] void name();    \
  }
PROFILER_TABLE(ncclProfiler_v4, table_v4)
PROFILER_TABLE(ncclProfiler_v5, table_v5)
PROFILER_TABLE(ncclProfiler_v6, table_v6)
