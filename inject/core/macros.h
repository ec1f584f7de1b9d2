// Macros of hooks.
#pragma once

// The name of an export must also match a pattern in inject/exports.map.
#define PROFSHIM_EXPORT extern "C" __attribute__((visibility("default")))

// Loops over the arguments of a row in hooks/*.def: MPI_EACH(WHAT, A, B) expands to WHAT(A, a2), WHAT(B, a1).

#define MPI_EACH_1(WHAT, A) WHAT(A, a1)
#define MPI_EACH_2(WHAT, A, ...) WHAT(A, a2), MPI_EACH_1(WHAT, __VA_ARGS__)
#define MPI_EACH_3(WHAT, A, ...) WHAT(A, a3), MPI_EACH_2(WHAT, __VA_ARGS__)
#define MPI_EACH_4(WHAT, A, ...) WHAT(A, a4), MPI_EACH_3(WHAT, __VA_ARGS__)
#define MPI_EACH_5(WHAT, A, ...) WHAT(A, a5), MPI_EACH_4(WHAT, __VA_ARGS__)
#define MPI_EACH_6(WHAT, A, ...) WHAT(A, a6), MPI_EACH_5(WHAT, __VA_ARGS__)
#define MPI_EACH_7(WHAT, A, ...) WHAT(A, a7), MPI_EACH_6(WHAT, __VA_ARGS__)
#define MPI_EACH_8(WHAT, A, ...) WHAT(A, a8), MPI_EACH_7(WHAT, __VA_ARGS__)
#define MPI_EACH_9(WHAT, A, ...) WHAT(A, a9), MPI_EACH_8(WHAT, __VA_ARGS__)
#define MPI_EACH_10(WHAT, A, ...) WHAT(A, a10), MPI_EACH_9(WHAT, __VA_ARGS__)
#define MPI_EACH_11(WHAT, A, ...) WHAT(A, a11), MPI_EACH_10(WHAT, __VA_ARGS__)
#define MPI_EACH_12(WHAT, A, ...) WHAT(A, a12), MPI_EACH_11(WHAT, __VA_ARGS__)
#define MPI_EACH_13(WHAT, A, ...) WHAT(A, a13), MPI_EACH_12(WHAT, __VA_ARGS__)
#define MPI_CHOOSE(A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, N, ...) MPI_EACH_##N
#define MPI_EACH(WHAT, ...) \
  __VA_OPT__(MPI_CHOOSE(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)(WHAT, __VA_ARGS__))

#define MPI_ROLE(A, a) ::profshim::mpi::Role::A
#define MPI_PARAMETER(A, a) ::profshim::mpi::ArgumentType<::profshim::mpi::Role::A> a
#define MPI_ADDRESS(A, a) void* a
#define MPI_NAME(A, a) a
