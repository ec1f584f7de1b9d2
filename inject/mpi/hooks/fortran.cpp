// Fortran passes all arguments by address. Open MPI's bindings call PMPI functions, which have no hooks. MPICH's
// bindings call C functions, but only the outer hook records. mpi_x_f08ts_ (MPICH) need no hook: C hooks record.
//
// A CHARACTER argument adds a hidden length, which is always forwarded: if it was not passed, no callee reads it.
#include <cstdint>

#include "inject/mpi/forward.h"
#include "inject/mpi/lifecycle.h"
#include "inject/mpi/rows.h"
#include "inject/start_gate.h"

namespace profshim::mpi {
namespace {

template <std::size_t>
using Address = void*;

template <HookId hook, bool f08, class Indices>
struct FortranHook;

template <HookId hook, bool f08, std::size_t... i>
struct FortranHook<hook, f08, std::index_sequence<i...>> {
  static constexpr const Row& kRow = RowOf<hook>::kRow;
  using Signature = void(Address<i>..., int*, std::uintptr_t);

  /// `error` may be null in mpi_f08.
  template <std::size_t n>
  static void call(const char* const (&names)[n], Address<i>... arguments, int* error, std::uintptr_t hidden) {
    static constinit RealFunction function;
    auto* const real = reinterpret_cast<Signature*>(function.get(Layer::kMpi, names));
    if (__builtin_expect(real == nullptr, 0)) {
      if (error != nullptr) *error = missing_function_error();
      return;
    }
    if (__builtin_expect(is_unwatched(kRow.behavior, recorder::mode()), 1)) return real(arguments..., error, hidden);
    watched_call(real, arguments..., error, hidden);
  }

 private:
  [[gnu::noinline]] static void watched_call(Signature* real, Address<i>... arguments, int* error,
                                             std::uintptr_t hidden) {
    std::uint64_t words[sizeof...(i) + 1] = {reinterpret_cast<std::uint64_t>(arguments)..., 0};
    intercept<RowOf<hook>::kRow>(words, true, [&] {
      real(reinterpret_cast<void*>(words[i])..., error, hidden);
      return error != nullptr ? *error : 0;
    });
  }
};

template <HookId hook, bool f08>
using FortranHookOf = FortranHook<hook, f08, std::make_index_sequence<RowOf<hook>::kArguments>>;

template <HookId hook, class... Arguments>
void initialize(RealFunction& function, const char* const (&names)[4], int* error, Arguments... arguments) {
  auto* const real = reinterpret_cast<void (*)(Arguments..., int*)>(function.get(Layer::kMpi, names));
  if (real == nullptr) {
    if (error != nullptr) *error = missing_function_error();
    return;
  }
  if (!session::requested() || mpi_was_seen()) return real(arguments..., error);
  choose_clock();
  const Ticks began = ticks();
  inject::announce_recording(true);
  real(arguments..., error);
  const Ticks ended = ticks();
  if (error != nullptr && *error != 0) return inject::announce_recording(false);
  // activate_rank() is false if the binding called the C function, whose hook has activated the rank.
  if (activate_rank(nullptr, began)) record_initialization(hook, began, ended, true);
}

}  // namespace
}  // namespace profshim::mpi

#define MPI_EXPORTED extern "C" __attribute__((visibility("default"))) void
#define MPI_STRIP(...) __VA_ARGS__

#define MPI_FORTRAN(hook, capitals, parameters, arguments, ...)                                                 \
  __VA_OPT__(                                                                                                   \
      MPI_EXPORTED __VA_ARGS__##_ parameters {                                                                  \
        static constexpr const char* kNames[] = {#__VA_ARGS__ "_", #__VA_ARGS__, #__VA_ARGS__ "__", #capitals}; \
        ::profshim::mpi::FortranHookOf<::profshim::hooks::hook, false>::call(kNames, MPI_STRIP arguments);      \
      } MPI_EXPORTED __VA_ARGS__ parameters __attribute__((alias(#__VA_ARGS__ "_")));                           \
      MPI_EXPORTED __VA_ARGS__##__ parameters __attribute__((alias(#__VA_ARGS__ "_")));                         \
      MPI_EXPORTED capitals parameters __attribute__((alias(#__VA_ARGS__ "_")));                                \
      MPI_EXPORTED __VA_ARGS__##_f08_ parameters {                                                              \
        static constexpr const char* kNames[] = {#__VA_ARGS__ "_f08_"};                                         \
        ::profshim::mpi::FortranHookOf<::profshim::hooks::hook, true>::call(kNames, MPI_STRIP arguments);       \
      })

#define HOOK(name, fortran, capitals, behavior, payload, ...)                                                        \
  MPI_FORTRAN(name, capitals, (MPI_EACH(MPI_ADDRESS, __VA_ARGS__) __VA_OPT__(, ) int* error, std::uintptr_t hidden), \
              (MPI_EACH(MPI_NAME, __VA_ARGS__) __VA_OPT__(, ) error, hidden), fortran)
#include "profshim/hooks/mpi.def"
#undef HOOK

MPI_EXPORTED mpi_init_(int* error) {
  static constinit profshim::mpi::RealFunction function;
  profshim::mpi::initialize<profshim::hooks::MPI_Init>(function, {"mpi_init_", "mpi_init", "mpi_init__", "MPI_INIT"},
                                                       error);
}
MPI_EXPORTED mpi_init(int* error) __attribute__((alias("mpi_init_")));
MPI_EXPORTED mpi_init__(int* error) __attribute__((alias("mpi_init_")));
MPI_EXPORTED MPI_INIT(int* error) __attribute__((alias("mpi_init_")));
MPI_EXPORTED mpi_init_f08_(int* error) {
  static constinit profshim::mpi::RealFunction function;
  profshim::mpi::initialize<profshim::hooks::MPI_Init>(function, {"mpi_init_f08_", "mpi_init_", "mpi_init", "MPI_INIT"},
                                                       error);
}

MPI_EXPORTED mpi_init_thread_(int* required, int* provided, int* error) {
  static constinit profshim::mpi::RealFunction function;
  profshim::mpi::initialize<profshim::hooks::MPI_Init_thread>(
      function, {"mpi_init_thread_", "mpi_init_thread", "mpi_init_thread__", "MPI_INIT_THREAD"}, error, required,
      provided);
}
MPI_EXPORTED mpi_init_thread(int* required, int* provided, int* error) __attribute__((alias("mpi_init_thread_")));
MPI_EXPORTED mpi_init_thread__(int* required, int* provided, int* error) __attribute__((alias("mpi_init_thread_")));
MPI_EXPORTED MPI_INIT_THREAD(int* required, int* provided, int* error) __attribute__((alias("mpi_init_thread_")));
MPI_EXPORTED mpi_init_thread_f08_(int* required, int* provided, int* error) {
  static constinit profshim::mpi::RealFunction function;
  profshim::mpi::initialize<profshim::hooks::MPI_Init_thread>(
      function, {"mpi_init_thread_f08_", "mpi_init_thread_", "mpi_init_thread", "MPI_INIT_THREAD"}, error, required,
      provided);
}
