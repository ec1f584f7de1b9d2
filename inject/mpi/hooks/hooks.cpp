#include <cstdint>
#include <tuple>

#include "inject/mpi/forward.h"
#include "inject/mpi/lifecycle.h"
#include "inject/mpi/rows.h"
#include "inject/start_gate.h"
#include "profshim/recorder_control.h"

namespace profshim::mpi {
namespace {

template <class T>
std::uint64_t widened(T argument) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uint64_t>(argument);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(argument));
  }
}

/// True for MPI_Init* and for calls that make a communicator of an MPI session.
template <HookId hook>
constexpr bool may_begin_rank = RowOf<hook>::kRow.behavior == Behavior::Initialize ||
                                (RowOf<hook>::kRow.behavior == Behavior::CreateCommOfGroup &&
                                 !RowOf<hook>::kRow.has(Role::Comm));

template <HookId hook, class Roles>
struct CHook;

template <HookId hook, std::size_t... i>
struct CHook<hook, std::index_sequence<i...>> {
  static constexpr const Row& kRow = RowOf<hook>::kRow;
  template <std::size_t n>
  using Argument = ArgumentType<RowOf<hook>::kRoles[n]>;
  using Signature = int(Argument<i>...);

  template <std::size_t n>
  static Argument<n> forwarded(Argument<n> given, const std::uint64_t* words) {
    if constexpr (RowOf<hook>::kRoles[n] == Role::Status || RowOf<hook>::kRoles[n] == Role::Statuses) {
      return reinterpret_cast<void*>(words[n]);
    } else {
      return given;
    }
  }

  static int call(const char* const (&names)[2], Argument<i>... arguments) {
    auto* const real = reinterpret_cast<Signature*>(inject::real_function(hook).get(Layer::kMpi, names));
    if (__builtin_expect(real == nullptr, 0)) return missing_function_error();
    if constexpr (may_begin_rank<hook>) {
      if (session::requested() && !mpi_was_seen()) return first_call(real, arguments...);
    }
    const std::uint32_t mode = recorder::mode();
    if (__builtin_expect(is_unwatched(kRow.behavior, mode), 1)) return real(arguments...);
    if constexpr (kRow.behavior == Behavior::Collective) {
      if (__builtin_expect(is_only_counted(mode), 1)) return counted_call(real, arguments...);
    }
    return watched_call(real, arguments...);
  }

 private:
  [[gnu::noinline]] static int watched_call(Signature* real, Argument<i>... arguments) {
    std::uint64_t words[sizeof...(i) + 1] = {widened(arguments)..., 0};
    return intercept<RowOf<hook>::kRow>(words, false, [&] { return real(forwarded<i>(arguments, words)...); });
  }

  // Not inline: keeps the hook's frame small, since LayerScope compares frames to detect nested calls.
  [[gnu::noinline]] static int counted_call(Signature* real, Argument<i>... arguments) {
    spool::Thread* const thread = recorder::this_thread();
    if (thread == nullptr) return real(arguments...);
    const recorder::LayerScope scope(*thread, Layer::kMpi);
    if (scope.outermost()) count_collective(normalized(std::get<kRow.position(Role::Comm)>(std::tie(arguments...))));
    return real(arguments...);
  }

  static int first_call(Signature* real, Argument<i>... arguments) {
    choose_clock();
    const Ticks began = ticks();
    inject::announce_recording(true);
    const int result = real(arguments...);
    [[maybe_unused]] const Ticks ended = ticks();
    if (result != 0) inject::announce_recording(false);
    if (result != 0) return result;
    if constexpr (kRow.behavior == Behavior::Initialize) {
      if (activate_rank(nullptr, began)) record_initialization(hook, began, ended, false);
    } else {
      const std::uint64_t words[] = {widened(arguments)...};
      activate_rank(reinterpret_cast<const void*>(words[kRow.position(Role::NewComm)]), began);
    }
    return result;
  }
};

template <HookId hook>
using CHookOf = CHook<hook, std::make_index_sequence<RowOf<hook>::kArguments>>;

}  // namespace

}  // namespace profshim::mpi

#define HOOK(name, fortran, capitals, behavior, payload, ...)                                            \
  extern "C" __attribute__((visibility("default"))) int name(MPI_EACH(MPI_PARAMETER, __VA_ARGS__)) {     \
    static constexpr const char* kNames[] = {#name, "P" #name};                                          \
    return ::profshim::mpi::CHookOf<::profshim::hooks::name>::call(kNames __VA_OPT__(, )                 \
                                                                       MPI_EACH(MPI_NAME, __VA_ARGS__)); \
  }
#include "profshim/hooks/mpi.def"
#undef HOOK

namespace profshim::mpi {

double measure_call_cost() {
  // The datatype is null: MPI is not asked for a size.
  recorder::ScratchThread scratch;
  return scratch.cost_ns([] {
    std::uint64_t words[] = {0, 0, 0, 0, 0, abi().world};
    intercept<RowOf<hooks::MPI_Send>::kRow>(words, false, [] { return 0; });
  });
}

}  // namespace profshim::mpi
