// The exported nccl functions, made of hooks/nccl.def.
//
// Group calls run through here in every process, to keep their nesting; everything else costs one load while the
// process records nothing.
#include <cerrno>
#include <utility>

#include "call.h"
#include "inject/core/real_function.h"
#include "inject/nccl/profiler/profiler.h"
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

int number(const Row& row, Words words, Role role, int otherwise) {
  return row.has(role) ? static_cast<int>(words[row.position(role)]) : otherwise;
}
template <class T>
T* address(const Row& row, Words words, Role role) {
  return row.has(role) ? reinterpret_cast<T*>(words[row.position(role)]) : nullptr;
}

Arguments arguments_of(const Row& row, Words words) {
  Arguments out;
  if (row.has(Role::Comm)) out.comm = words[row.position(Role::Comm)];
  if (row.has(Role::Count)) out.count = words[row.position(Role::Count)];
  out.type = number(row, words, Role::Type, -1);
  out.op = number(row, words, Role::Op, -1);
  out.peer = number(row, words, Role::Root, number(row, words, Role::Peer, kNone32));
  out.bytes = out.count * size_of_type(out.type);
  return out;
}

/// The name that the job gave in its ncclConfig_t, else how the communicator came about.
StringId name_of(const Row& row, Words words, const char* made, const Communicator* parent) {
  const auto* const config = address<const Config>(row, words, Role::Config);
  if (config != nullptr && config->magic == kConfigMagic && config->size >= sizeof(Config) &&
      config->comm_name != nullptr && config->comm_name[0] != '\0') {
    return recorder::intern(config->comm_name);
  }
  return origin_text(made, parent);
}

Facts facts_of_new(const Row& row, Words words) {
  Facts facts;
  facts.size = number(row, words, Role::Size32, kUnknown);
  facts.rank = number(row, words, Role::Rank, kUnknown);
  Communicator* const parent = row.has(Role::Comm) ? communicator_of(words[row.position(Role::Comm)]) : nullptr;
  facts.parent = parent != nullptr ? parent->id : 0;
  switch (row.behaviour) {
    case Behaviour::Initialise:
      facts.identity = row.has(Role::Id) ? identity_of_ids(address<const UniqueId>(row, words, Role::Id), 1, facts.size)
                                         : identity_of_ids(address<const UniqueId>(row, words, Role::Ids),
                                                           number(row, words, Role::IdCount, 0), facts.size);
      facts.magic = magic_of_id(row.has(Role::Id) ? address<const UniqueId>(row, words, Role::Id)
                                                  : address<const UniqueId>(row, words, Role::Ids));
      facts.name = name_of(row, words, "init", nullptr);
      break;
    case Behaviour::Split: {
      const int colour = number(row, words, Role::Colour, kNoColour);
      facts.size = facts.rank = kUnknown;
      if (parent != nullptr) facts.identity = identity_of_split(*parent, colour);
      facts.name = name_of(row, words, "split", parent);
      break;
    }
    case Behaviour::Shrink: {
      const int excluded = number(row, words, Role::ExcludedCount, 0);
      if (parent != nullptr) {
        facts.identity = identity_of_shrink(*parent, address<const int>(row, words, Role::Excluded), excluded);
        if (const std::int32_t size = size_of(*parent); size != kUnknown) facts.size = size - excluded;
      }
      facts.name = name_of(row, words, "shrink", parent);
      break;
    }
    case Behaviour::Grow: {
      const Growth growth = growth_of(parent, address<const UniqueId>(row, words, Role::Ids), facts.size);
      facts.identity = growth.identity;
      facts.magic = growth.magic;
      if (facts.rank < 0) facts.rank = kUnknown;
      facts.name = name_of(row, words, "grow", parent);
      if (!growth.matched) {
        recorder::problem("nccl", "ncclCommGrow: the ranks that were added cannot be matched with the others");
      }
      break;
    }
    default:
      break;
  }
  return facts;
}

Communicator* enter_clique(const Row& row, Words words) {
  const int ranks = number(row, words, Role::Size32, 0);
  const auto* const handles = address<const Handle>(row, words, Role::NewComm);
  const auto* const devices = address<const int>(row, words, Role::Ptr);
  if (handles == nullptr) return nullptr;
  Facts facts;
  facts.identity = identity_of_clique(ranks);
  facts.size = ranks;
  facts.name = recorder::intern("init all");
  Communicator* first = nullptr;
  for (int i = 0; i < ranks; ++i) {
    facts.rank = i;
    facts.device = devices != nullptr ? devices[i] : i;
    Communicator* const made = add_communicator(handles[i], facts);
    if (i == 0) first = made;
  }
  return first;
}

/// A call that makes a communicator has not failed. What it made, where it may be used already.
Communicator* made_by(const Row& row, Words words, int result) {
  if (row.behaviour == Behaviour::InitialiseAll) return enter_clique(row, words);
  const auto* const place = address<const Handle>(row, words, Role::NewComm);
  const Facts facts = facts_of_new(row, words);  // counts the split on its parent
  if (place == nullptr || (row.behaviour == Behaviour::Split && number(row, words, Role::Colour, 0) == kNoColour)) {
    return nullptr;
  }
  const Handle handle = *place;
  if (handle == 0) {
    add_when_stored(place, facts);
    return nullptr;
  }
  Communicator* const made = add_communicator(handle, facts);
  return result == kSuccess && !group::is_inside() ? made : nullptr;
}

constexpr std::uint32_t watched_mode(Behaviour behaviour) {
  return always_watched(behaviour) ? ~0u : recorder::kArmed | recorder::kHookSteps;
}

template <HookId hook, class Places>
struct Hook;

template <HookId hook, std::size_t... i>
struct Hook<hook, std::index_sequence<i...>> {
  static constexpr const Row& kRow = RowOf<hook>::kRow;
  static constexpr Behaviour kBehaviour = kRow.behaviour;
  static constexpr bool kIsGroupCall =
      kBehaviour == Behaviour::GroupStart || kBehaviour == Behaviour::GroupEnd || kBehaviour == Behaviour::GroupCancel;
  template <std::size_t n>
  using Argument = ArgumentType<RowOf<hook>::kRoleOf[n]>;
  using Signature = int(Argument<i>...);

  static int call(inject::NamedFunction<void()>& function, Argument<i>... arguments) {
    auto* const real = reinterpret_cast<Signature*>(function.get());
    if (__builtin_expect(real == nullptr, 0)) return kSystemError;
    if constexpr (kBehaviour == Behaviour::Initialise || kBehaviour == Behaviour::InitialiseAll) {
      if (recorder::mode() == 0) announce(arguments...);
      profiler::offer();
    }
    const std::uint32_t mode = recorder::mode();
    if (__builtin_expect((mode & watched_mode(kBehaviour)) == 0, 1)) return not_watched(real, arguments...);
    return watched(real, arguments...);
  }

 private:
  static void announce(const Argument<i>&... arguments) {
    const std::uint64_t words[] = {widened(arguments)...};
    const int ranks = number(kRow, words, Role::Size32, 0);
    if constexpr (kBehaviour == Behaviour::InitialiseAll) {
      communicator_comes(0, 1);  // one process is all there is
    } else {
      communicator_comes(number(kRow, words, Role::Rank, -1), ranks);
    }
  }

  static int not_watched(Signature* real, Argument<i>... arguments) {
    if constexpr (!kIsGroupCall) return real(arguments...);
    const int result = group_call(real, arguments...);
    leave_or_enter(result);
    return result;
  }

  /// NCCL's NVTX range of the call then knows that its nesting is counted here.
  static int group_call(Signature* real, Argument<i>... arguments) {
    const bool before = std::exchange(group::state.hooked, true);
    const int result = real(arguments...);
    group::state.hooked = before;
    return result;
  }

  static void leave_or_enter(int result) {
    if constexpr (kBehaviour == Behaviour::GroupStart) {
      group::started(result);
    } else {
      group::ended();
    }
  }

  [[gnu::noinline]] static int watched(Signature* real, Argument<i>... arguments) {
    spool::Thread* const thread = recorder::this_thread();
    if (thread == nullptr) {
      recorder::lose_event(recorder::kNccl);
      return not_watched(real, arguments...);
    }
    const recorder::LayerScope scope(*thread, Layer::kNccl);
    // What NCCL itself calls: ncclBcast calls ncclBroadcast, an older ncclSend opens a group.
    if (!scope.outermost() || inside_nvtx_range()) return not_watched(real, arguments...);
    const std::uint64_t words[sizeof...(i) + 1] = {widened(arguments)..., 0};
    const bool unseen = (recorder::mode() & (recorder::kArmed | recorder::kHookSteps)) == 0;
    if constexpr (kBehaviour == Behaviour::Collective) {
      if (unseen) {
        count_collective(words[kRow.position(Role::Comm)]);
        return real(arguments...);
      }
    }
    if constexpr (kIsGroupCall) {
      if (unseen) {
        const int result = not_watched(real, arguments...);
        if (kBehaviour == Behaviour::GroupEnd && !group::is_inside()) take_stored();
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
    if (!scope.outermost()) record.event = nullptr;  // taken for left, and closed
    Communicator* made = nullptr;
    if constexpr (makes_communicator(kBehaviour)) {
      const int saved_errno = errno;
      if (!has_failed(result)) made = made_by(kRow, words, result);
      note_version(reinterpret_cast<const void*>(real));
      if (made != nullptr) profiler::communicator_is_made();
      errno = saved_errno;
    }
    end_call(record, result, made);
    if constexpr (kIsGroupCall) {
      leave_or_enter(result);
      if (kBehaviour == Behaviour::GroupEnd && !group::is_inside()) take_stored();
    }
    return result;
  }
};

template <HookId hook>
using HookOf = Hook<hook, std::make_index_sequence<RowOf<hook>::kArguments>>;

}  // namespace
}  // namespace profshim::nccl

// pncclX is for tools that are linked in; the next ncclX keeps other preloaded tools in the chain.
#define HOOK(name, since, behaviour, payload, ...)                                                        \
  extern "C" __attribute__((visibility("default"))) int name(MPI_EACH(NCCL_PARAMETER, __VA_ARGS__)) {     \
    static constinit ::profshim::inject::NamedFunction<void()> function{::profshim::Layer::kNccl, #name}; \
    return ::profshim::nccl::HookOf<::profshim::HookId::name>::call(function __VA_OPT__(, )               \
                                                                        MPI_EACH(MPI_NAME, __VA_ARGS__)); \
  }
#include "profshim/hooks/nccl.def"
#undef HOOK
