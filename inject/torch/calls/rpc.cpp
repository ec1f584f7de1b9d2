// PyTorch makes ranges for RPC requests only with its legacy profiler. TensorPipe's agent, the only one since 1.13, is
// called by symbol, directly or through its virtual table. Source:
// torch/csrc/distributed/rpc/{tensorpipe_agent,message,request_callback}.{h,cpp}, 1.13 to 2.x.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <utility>

#include "inject/core/loader/resolve.h"
#include "inject/torch/layout.h"
#include "inject/torch/pending_ranges.h"
#include "profshim/call_stack.h"
#include "profshim/recorder.h"
#include "profshim/trace/schema.h"
#include "rpc_request.h"

namespace profshim::torch {

/// c10::intrusive_ptr. Functions return it in memory, because it has a destructor.
struct IntrusivePointer {
  void* value;
  ~IntrusivePointer() {}  // NOLINT(modernize-use-equals-default): a defaulted destructor is trivial
};

namespace {

bool recording() { return recorder::mode_has(recorder::kArmed | recorder::kTorch); }

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(inject::resolve(name, Layer::kTorch));
}

#define RPC "5torch11distributed3rpc"
#define ID "_ZNK" RPC "7Message2idEv"
constexpr char kType[] = "_ZNK" RPC "7Message4typeEv", kPayload[] = "_ZNK" RPC "7Message7payloadEv", kId[] = ID,
               kWorkerInfo[] = "_ZNK" RPC "8RpcAgent13getWorkerInfoEv",
               kRemoteName[] = "_ZN10tensorpipe4Pipe13getRemoteNameB5cxx11Ev",
               kRemoteNameOlder[] = "_ZN10tensorpipe4Pipe13getRemoteNameEv";

int type_of(const void* message) {
  static auto* const type = real<int(const void*)>(kType);
  return type != nullptr ? type(message) : 0;
}

std::int64_t id_of(const void* message) {
  static auto* const id = real<std::int64_t(const void*)>(kId);
  return id != nullptr ? id(message) : kNoRpcId;
}

/// A std::vector<char> begins with the addresses of its begin and end.
std::string_view payload_of(const void* message) {
  static auto* const payload = real<const char* const*(const void*)>(kPayload);
  if (payload == nullptr) return {};
  const char* const* const bytes = payload(message);
  return {bytes[0], static_cast<std::size_t>(bytes[1] - bytes[0])};
}

/// Both ABIs of std::string begin with the characters' address.
StringId name_in(const void* worker_info) {
  const Layout* const layout = known_layout();
  if (layout == nullptr || worker_info == nullptr) return 0;
  return recorder::intern(*reinterpret_cast<const char* const*>(static_cast<const char*>(worker_info) + layout->list));
}

StringId own_name(const void* agent) {
  static auto* const info = real<const void*(const void*)>(kWorkerInfo);
  return info != nullptr ? name_in(info(agent)) : 0;
}

StringId remote_name(void* pipe) {
  using RemoteName = const char* const*(void*);
  static auto* const newer = reinterpret_cast<RemoteName*>(inject::resolve_in(kRemoteName, Layer::kTorch));
  static auto* const older = reinterpret_cast<RemoteName*>(inject::resolve_in(kRemoteNameOlder, Layer::kTorch));
  RemoteName* const name = newer != nullptr ? newer : older;
  return name != nullptr ? recorder::intern(*name(pipe)) : 0;
}

// Names of both workers, kept until the request is served. The agent calls respond(), whose pipe names the sender, and
// then id() of the received request, on one thread. Another thread serves the request.
struct Received {
  const void* message = nullptr;
  StringId from = 0, to = 0;
};
constexpr std::size_t kReceivedSlots = 1024;
constinit Received received[kReceivedSlots];
constinit std::mutex received_mutex;

struct State {
  StringId from = 0, to = 0;  // workers at both ends of the latest respond()'s pipe
  bool is_sending = false;    // inside the real send(), which calls id() of its own request
  Event* request = nullptr;   // of the request being sent; set_id() adds the id
  Event* served = nullptr;    // of the request being served
};
constinit thread_local State state __attribute__((tls_model("initial-exec"))) = {};

Received& slot_of(const void* message) {
  return received[(reinterpret_cast<std::uintptr_t>(message) * 0x9e3779b97f4a7c15ull) >> 54];
}

void note_received(const void* message) {
  const std::lock_guard lock(received_mutex);
  slot_of(message) = {message, state.from, state.to};
  state.from = 0;
}

Received take_received(const void* message) {
  const std::lock_guard lock(received_mutex);
  Received& slot = slot_of(message);
  if (slot.message != message) return {message, 0, 0};
  return std::exchange(slot, {});
}

std::string_view text(StringId id) { return id != 0 ? recorder::text_of(id) : std::string_view("?"); }

/// PyTorch's profiler gives this suffix to events of other workers.
constexpr std::string_view kServed = "#remote_op";

Event describe(HookId hook, const void* message, StringId from, StringId to) {
  Event event{};
  event.hook = hook;
  const std::string_view payload = payload_of(message);
  event.rpc = {0, kNoRpcId, payload.size(), from, to, 0, static_cast<std::uint16_t>(type_of(message)), 0};
  char name[spool::kMaxName];
  const std::string_view suffix = hook == HookId::kTorchRpcServed ? kServed : "";
  std::size_t length = rpc_name(event.rpc.type, payload, text(from), text(to), name, sizeof name - kServed.size());
  length += suffix.copy(name + length, suffix.size());
  event.name = recorder::intern({name, length});
  return event;
}

/// Ends the event of a call that threw an exception.
void close_left_call(spool::Thread& thread, Event*& left) {
  if (left == nullptr) return;
  left->flags |= kUnfinished;
  recorder::end(thread, *left);
  left = nullptr;
}

Event* begin_call(spool::Thread& thread, HookId hook, const void* message, StringId from, StringId to) {
  const Event described = describe(hook, message, from, to);
  Event* const event = recorder::open_call(thread);
  if (event == nullptr) return nullptr;
  *event = described;
  if (recorder::mode_has(recorder::kStacks)) event->rpc.stack = call_stack::capture();
  recorder::begin(*event);
  return event;
}

void end_call(spool::Thread& thread, Event*& call) {
  if (call != nullptr) recorder::end(thread, *call);
  call = nullptr;
}

void wait_for_answer(spool::Thread& thread, const Event& sent, const void* future) {
  Event request = sent;
  request.flags |= kStartEnd;
  request.rpc.began_on = static_cast<std::uint64_t>(thread.tid.load(std::memory_order_relaxed));
  request.rpc.stack = 0;
  make_pending(thread, request, future);
}

void define_own_name(StringId name) {
  static constinit std::atomic<StringId> told{0};
  if (name == 0 || told.exchange(name, std::memory_order_relaxed) == name) return;
  const std::string_view worker = text(name);
  char json[160];
  // A worker's name needs no escapes: PyTorch accepts only letters, digits, '-', '_' and ':'.
  constexpr std::size_t kLongest = 128;
  std::snprintf(json, sizeof json, "\"%.*s\"", static_cast<int>(std::min(worker.size(), kLongest)), worker.data());
  recorder::add_metadata(schema::ours::kRpcWorker, json);
}

template <class Send>
IntrusivePointer send(const void* agent, const void* to, const void* message, const Send& call_real) {
  spool::Thread* const thread = recording() ? recorder::this_thread() : nullptr;
  if (thread == nullptr) recorder::lose_event(recorder::kTorch);
  if (thread != nullptr) {
    const int saved_errno = errno;
    close_left_call(*thread, state.request);
    const StringId from = own_name(agent);
    define_own_name(from);
    state.request = begin_call(*thread, HookId::kTorchRpc, message, from, name_in(to));
    errno = saved_errno;
  }
  state.is_sending = true;
  IntrusivePointer future = call_real();
  state.is_sending = false;
  if (thread != nullptr && state.request != nullptr && recorder::mode() != 0) {
    const int saved_errno = errno;
    const Event request = *state.request;
    end_call(*thread, state.request);
    wait_for_answer(*thread, request, future.value);
    errno = saved_errno;
  }
  return future;
}

template <class Serve>
IntrusivePointer serve(const void* message, const Serve& call_real) {
  spool::Thread* const thread = recording() ? recorder::this_thread() : nullptr;
  if (thread == nullptr) recorder::lose_event(recorder::kTorch);
  if (thread != nullptr) {
    const int saved_errno = errno;
    close_left_call(*thread, state.served);
    const Received known = take_received(message);
    state.served = begin_call(*thread, HookId::kTorchRpcServed, message, known.from, known.to);
    if (state.served != nullptr) state.served->rpc.id = id_of(message);
    errno = saved_errno;
  }
  IntrusivePointer future = call_real();
  if (thread != nullptr && recorder::mode() != 0) end_call(*thread, state.served);
  return future;
}

void note_pipe(const void* agent, void* pipe) {
  if (!recorder::mode_has(recorder::kTorch)) return;
  const int saved_errno = errno;
  state.is_sending = false;
  state.to = own_name(agent);
  state.from = remote_name(pipe);
  define_own_name(state.to);
  errno = saved_errno;
}

/// `atomic_future` is a TensorPipeAgent::AtomicJitFuture: a flag and the address of send()'s future.
void on_answer(const void* const* atomic_future, std::uint8_t flags) {
  if (!recording() && (recorder::mode() == 0 || !has_pending())) return;
  const int saved_errno = errno;
  if (spool::Thread* const thread = recorder::this_thread()) end_pending(*thread, atomic_future[1], ticks(), flags);
  errno = saved_errno;
}

}  // namespace
}  // namespace profshim::torch

#define EXPORT [[gnu::visibility("default")]]
#define AGENT "_ZN" RPC "15TensorPipeAgent"
#define NO_TYPE "6detail34intrusive_target_default_null_typeI"
#define FUTURE "St10shared_ptrINS2_15AtomicJitFutureEE"

// Arguments of class types (intrusive_ptr, shared_ptr, vector, string) are passed by address.
#define SEND                                                                \
  AGENT                                                                     \
  "4sendERKNS1_10WorkerInfoEN3c1013intrusive_ptrINS1_7MessageENS6_" NO_TYPE \
  "S8_EEEEfRKSt13unordered_mapINS6_6DeviceESE_St4hashISE_ESt8equal_toISE_ESaISt4pairIKSE_SE_EEE"
EXPORT profshim::torch::IntrusivePointer profshim_rpc_send(void* agent, const void* to, void** message, float timeout,
                                                           const void* devices) __asm__(SEND);
profshim::torch::IntrusivePointer profshim_rpc_send(void* agent, const void* to, void** message, float timeout,
                                                    const void* devices) {
  using namespace profshim::torch;
  static auto* const next = real<IntrusivePointer(void*, const void*, void**, float, const void*)>(SEND);
  return send(agent, to, *message, [&] { return next(agent, to, message, timeout, devices); });
}

#define SERVE "_ZNK" RPC "15RequestCallbackclERNS1_7MessageESt6vectorIN3c106StreamESaIS7_EE"
EXPORT profshim::torch::IntrusivePointer profshim_rpc_serve(const void* self, void* message,
                                                            void* streams) __asm__(SERVE);
profshim::torch::IntrusivePointer profshim_rpc_serve(const void* self, void* message, void* streams) {
  using namespace profshim::torch;
  static auto* const next = real<IntrusivePointer(const void*, void*, void*)>(SERVE);
  return serve(message, [&] { return next(self, message, streams); });
}

#define SET_ID "_ZN" RPC "7Message5setIdEl"
EXPORT void profshim_rpc_set_id(void* message, std::int64_t id) __asm__(SET_ID);
void profshim_rpc_set_id(void* message, std::int64_t id) {
  using namespace profshim::torch;
  static auto* const next = real<void(void*, std::int64_t)>(SET_ID);
  if (state.request != nullptr && profshim::recorder::mode() != 0) state.request->rpc.id = id;
  next(message, id);
}

EXPORT std::int64_t profshim_rpc_id(const void* message) __asm__(ID);
std::int64_t profshim_rpc_id(const void* message) {
  using namespace profshim::torch;
  if (state.from != 0 && !state.is_sending && (type_of(message) & kRpcRequest) != 0) note_received(message);
  return id_of(message);
}

#define RESPOND AGENT "7respondERSt10shared_ptrIN10tensorpipe4PipeEE"
EXPORT void profshim_rpc_respond(void* agent, void** pipe) __asm__(RESPOND);
void profshim_rpc_respond(void* agent, void** pipe) {
  using namespace profshim::torch;
  static auto* const next = real<void(void*, void**)>(RESPOND);
  next(agent, pipe);
  note_pipe(agent, *pipe);
}

#define COMPLETE                                                                          \
  AGENT "20markFutureAsCompleteE" FUTURE "N3c1013intrusive_ptrINS1_7MessageENS6_" NO_TYPE \
        "S8_EEEE"                                                                         \
        "St6vectorINS6_6StreamESaISE_EE"
EXPORT void profshim_rpc_complete(void* agent, void** future, void* message, void* streams) __asm__(COMPLETE);
void profshim_rpc_complete(void* agent, void** future, void* message, void* streams) {
  using namespace profshim::torch;
  static auto* const next = real<void(void*, void**, void*, void*)>(COMPLETE);
  on_answer(static_cast<const void* const*>(*future), 0);
  next(agent, future, message, streams);
}

#define FAIL(function, symbol)                                                   \
  EXPORT void function(void* agent, void** future, void* error) __asm__(symbol); \
  void function(void* agent, void** future, void* error) {                       \
    using namespace profshim::torch;                                             \
    static auto* const next = real<void(void*, void**, void*)>(symbol);          \
    on_answer(static_cast<const void* const*>(*future), profshim::kFailed);      \
    next(agent, future, error);                                                  \
  }
#define WITH_ERROR AGENT "19markFutureWithErrorE" FUTURE
FAIL(profshim_rpc_error, WITH_ERROR "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")
FAIL(profshim_rpc_error_older, WITH_ERROR "Ss")
