#include <cerrno>
#include <utility>

#include "call.h"
#include "inject/core/loader/real_function.h"
#include "profiler.h"
#include "profshim/session.h"
#include "rows.h"
#include "version.h"

namespace profshim::nccl {
namespace {

using Words = const std::uint64_t*;

template <class T>
std::uint64_t widened(const T& argument) {
  if constexpr (std::is_same_v<T, UniqueId>) {
    return reinterpret_cast<std::uint64_t>(&argument);
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uint64_t>(argument);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(argument));
  }
}

int int_argument(const Row& row, Words words, Role role, int otherwise) {
  return row.has(role) ? static_cast<int>(words[row.position(role)]) : otherwise;
}
template <class T>
T* pointer_argument(const Row& row, Words words, Role role) {
  return row.has(role) ? reinterpret_cast<T*>(words[row.position(role)]) : nullptr;
}

Arguments arguments_of(const Row& row, Words words) {
  Arguments out;
  if (row.has(Role::Comm)) out.comm = words[row.position(Role::Comm)];
  if (row.has(Role::Count)) out.count = words[row.position(Role::Count)];
  out.type = int_argument(row, words, Role::Type, -1);
  out.op = int_argument(row, words, Role::Op, -1);
  out.peer = int_argument(row, words, Role::Root, int_argument(row, words, Role::Peer, kNone32));
  out.bytes = out.count * size_of_type(out.type);
  return out;
}

StringId name_of(const Row& row, Words words, const char* made, const Communicator* parent) {
  const auto* const config = pointer_argument<const Config>(row, words, Role::Config);
  if (config != nullptr && config->magic == kConfigMagic && config->size >= sizeof(Config) &&
      config->comm_name != nullptr && config->comm_name[0] != '\0') {
    return recorder::intern(config->comm_name);
  }
  return origin_text(made, parent);
}

CommunicatorInfo info_of_new(const Row& row, Words words) {
  CommunicatorInfo info;
  info.size = int_argument(row, words, Role::Size32, kUnknown);
  info.rank = int_argument(row, words, Role::Rank, kUnknown);
  Communicator* const parent =
      row.has(Role::Comm) ? find_or_add_communicator(words[row.position(Role::Comm)]) : nullptr;
  info.parent = parent != nullptr ? parent->id : 0;
  switch (row.behavior) {
    case Behavior::Initialize:
      info.identity = row.has(Role::Id)
                          ? identity_of_ids(pointer_argument<const UniqueId>(row, words, Role::Id), 1, info.size)
                          : identity_of_ids(pointer_argument<const UniqueId>(row, words, Role::Ids),
                                            int_argument(row, words, Role::IdCount, 0), info.size);
      info.magic = magic_of_id(row.has(Role::Id) ? pointer_argument<const UniqueId>(row, words, Role::Id)
                                                 : pointer_argument<const UniqueId>(row, words, Role::Ids));
      info.name = name_of(row, words, "init", nullptr);
      break;
    case Behavior::Split: {
      const int color = int_argument(row, words, Role::Color, kNoColor);
      info.size = info.rank = kUnknown;
      if (parent != nullptr) info.identity = next_split_identity(*parent, color);
      info.name = name_of(row, words, "split", parent);
      break;
    }
    case Behavior::Shrink: {
      const int excluded = int_argument(row, words, Role::ExcludedCount, 0);
      if (parent != nullptr) {
        info.identity =
            next_shrink_identity(*parent, pointer_argument<const int>(row, words, Role::Excluded), excluded);
        if (const std::int32_t size = size_of(*parent); size != kUnknown) info.size = size - excluded;
      }
      info.name = name_of(row, words, "shrink", parent);
      break;
    }
    case Behavior::Grow: {
      const Growth growth = next_growth(parent, pointer_argument<const UniqueId>(row, words, Role::Ids), info.size);
      info.identity = growth.identity;
      info.magic = growth.magic;
      if (info.rank < 0) info.rank = kUnknown;
      info.name = name_of(row, words, "grow", parent);
      if (!growth.matched) {
        recorder::problem(
            "nccl", "ncclCommGrow: added ranks and old ranks may show the grown communicator as two communicators");
      }
      break;
    }
    default:
      break;
  }
  return info;
}

Communicator* add_clique(const Row& row, Words words) {
  const int ranks = int_argument(row, words, Role::Size32, 0);
  const auto* const handles = pointer_argument<const Handle>(row, words, Role::NewComm);
  const auto* const devices = pointer_argument<const int>(row, words, Role::Ptr);
  if (handles == nullptr) return nullptr;
  CommunicatorInfo info;
  info.identity = next_clique_identity(ranks);
  info.size = ranks;
  info.name = recorder::intern("init all");
  Communicator* first = nullptr;
  for (int i = 0; i < ranks; ++i) {
    info.rank = i;
    info.device = devices != nullptr ? devices[i] : i;
    Communicator* const made = add_communicator(handles[i], info);
    if (i == 0) first = made;
  }
  return first;
}

/// Returns null unless the job may use the communicator already.
Communicator* add_made_communicator(const Row& row, Words words, int result) {
  if (row.behavior == Behavior::InitializeAll) return add_clique(row, words);
  const auto* const place = pointer_argument<const Handle>(row, words, Role::NewComm);
  const CommunicatorInfo info = info_of_new(row, words);  // counts the split, even with kNoColor
  if (place == nullptr || (row.behavior == Behavior::Split && int_argument(row, words, Role::Color, 0) == kNoColor)) {
    return nullptr;
  }
  const Handle handle = *place;
  if (handle == 0) {
    add_when_stored(place, info);
    return nullptr;
  }
  Communicator* const made = add_communicator(handle, info);
  return result == kSuccess && !group::is_inside() ? made : nullptr;
}

constexpr std::uint32_t watched_mode(Behavior behavior) {
  return is_always_watched(behavior) ? ~0u : recorder::kArmed | recorder::kHookSteps;
}

template <HookId hook, class Places>
struct Hook;

template <HookId hook, std::size_t... i>
struct Hook<hook, std::index_sequence<i...>> {
  static constexpr const Row& kRow = RowOf<hook>::kRow;
  static constexpr Behavior kBehavior = kRow.behavior;
  static constexpr bool kIsGroupCall =
      kBehavior == Behavior::GroupStart || kBehavior == Behavior::GroupEnd || kBehavior == Behavior::GroupCancel;
  template <std::size_t n>
  using Argument = ArgumentType<RowOf<hook>::kRoleOf[n]>;
  using Signature = int(Argument<i>...);

  static int call(const char* const (&names)[1], Argument<i>... arguments) {
    auto* const real = reinterpret_cast<Signature*>(inject::real_function(hook).get(Layer::kNccl, names));
    if (__builtin_expect(real == nullptr, 0)) return kSystemError;
    if constexpr (kBehavior == Behavior::Initialize || kBehavior == Behavior::InitializeAll) {
      if (recorder::mode() == 0) activate(arguments...);
      profiler::offer();
    }
    const std::uint32_t mode = recorder::mode();
    if (__builtin_expect((mode & watched_mode(kBehavior)) == 0, 1)) return not_watched(real, arguments...);
    return watched(real, arguments...);
  }

 private:
  static void activate(const Argument<i>&... arguments) {
    const std::uint64_t words[] = {widened(arguments)...};
    const int ranks = int_argument(kRow, words, Role::Size32, 0);
    if constexpr (kBehavior == Behavior::InitializeAll) {
      activate_by_communicator(0, 1);  // all ranks of ncclCommInitAll are in this process
    } else {
      activate_by_communicator(int_argument(kRow, words, Role::Rank, -1), ranks);
    }
  }

  static int not_watched(Signature* real, Argument<i>... arguments) {
    if constexpr (!kIsGroupCall) return real(arguments...);
    const int result = group_call(real, arguments...);
    update_nesting(result);
    return result;
  }

  /// `hooked` keeps NCCL's NVTX range from counting the nesting again.
  static int group_call(Signature* real, Argument<i>... arguments) {
    const bool before = std::exchange(group::state.hooked, true);
    const int result = real(arguments...);
    group::state.hooked = before;
    return result;
  }

  static void update_nesting(int result) {
    if constexpr (kBehavior == Behavior::GroupStart) {
      group::enter(result);
    } else {
      group::leave();
    }
  }

  [[gnu::noinline]] static int watched(Signature* real, Argument<i>... arguments) {
    spool::Thread* const thread = recorder::this_thread();
    if (thread == nullptr) {
      recorder::lose_event(recorder::kNccl);
      return not_watched(real, arguments...);
    }
    const recorder::LayerScope scope(*thread, Layer::kNccl);
    // Skip NCCL's own calls: ncclBcast calls ncclBroadcast, older ncclSend opens a group.
    if (!scope.outermost() || inside_nvtx_range()) return not_watched(real, arguments...);
    const std::uint64_t words[sizeof...(i) + 1] = {widened(arguments)..., 0};
    const bool unseen = (recorder::mode() & (recorder::kArmed | recorder::kHookSteps)) == 0;
    if constexpr (kBehavior == Behavior::Collective) {
      if (unseen) {
        count_collective(words[kRow.position(Role::Comm)]);
        return real(arguments...);
      }
    }
    if constexpr (kIsGroupCall) {
      if (unseen) {
        const int result = not_watched(real, arguments...);
        if (kBehavior == Behavior::GroupEnd && !group::is_inside()) add_stored_communicators();
        return result;
      }
    }
    Call record;
    record.row = &kRow;
    record.thread = thread;
    begin_call(record, arguments_of(kRow, words), false);
    int result = 0;
    if constexpr (kIsGroupCall) {
      result = group_call(real, arguments...);
    } else {
      result = real(arguments...);
    }
    // outermost() is false if close_left_calls() has closed the event, which looked abandoned.
    if (!scope.outermost()) record.event = nullptr;
    Communicator* made = nullptr;
    if constexpr (makes_communicator(kBehavior)) {
      const int saved_errno = errno;
      if (!has_failed(result)) made = add_made_communicator(kRow, words, result);
      note_version(reinterpret_cast<const void*>(real));
      if (made != nullptr) profiler::check_loaded();
      errno = saved_errno;
    }
    end_call(record, result, made);
    if constexpr (kIsGroupCall) {
      update_nesting(result);
      if (kBehavior == Behavior::GroupEnd && !group::is_inside()) add_stored_communicators();
    }
    return result;
  }
};

template <HookId hook>
using HookOf = Hook<hook, std::make_index_sequence<RowOf<hook>::kArguments>>;

}  // namespace
}  // namespace profshim::nccl

#define HOOK(name, since, behavior, payload, ...)                                                        \
  extern "C" __attribute__((visibility("default"))) int name(MPI_EACH(NCCL_PARAMETER, __VA_ARGS__)) {    \
    static constexpr const char* kNames[] = {#name};                                                     \
    return ::profshim::nccl::HookOf<::profshim::hooks::name>::call(kNames __VA_OPT__(, )                 \
                                                                       MPI_EACH(MPI_NAME, __VA_ARGS__)); \
  }
#include "profshim/hooks/nccl.def"
#undef HOOK
