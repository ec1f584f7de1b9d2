#pragma once

#include <array>
#include <type_traits>

#include "call.h"
#include "completion.h"
#include "inject/core/loader/real_function.h"
#include "polls.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "requests.h"
#include "row.h"

namespace profshim::mpi {

using inject::RealFunction;

/// Returns MPI_ERR_OTHER.
int missing_function_error();

inline bool is_unwatched(Behavior behavior, std::uint32_t mode) {
  if (mode == 0) return true;
  if ((mode & (recorder::kArmed | recorder::kHookSteps)) != 0) return false;
  return completes_requests(behavior) ? !any_open_operation() : !always_watched(behavior);
}

inline bool is_only_counted(std::uint32_t mode) { return (mode & (recorder::kArmed | recorder::kHookSteps)) == 0; }

struct NoCompletion {
  explicit NoCompletion(Call&) {}
  void finish(int) {}
};
template <const Row& row>
using CompletionOf = std::conditional_t<completes_requests(row.behavior), Completion, NoCompletion>;

template <const Row& row, class Real>
int forward_event(Call& call, const recorder::LayerScope& scope, Real& real) {
  begin_call(call);
  CompletionOf<row> completion(call);
  const int result = real();
  if (__builtin_expect(recorder::mode() == 0, 0)) return result;
  if (!scope.outermost()) call.event = nullptr;
  completion.finish(result);
  end_call(call, result);
  return result;
}

/// A successful poll becomes an event; unsuccessful polls share one event (polls.h). A poll does not block, so its
/// call is opened after `real`.
template <const Row& row, class Real>
int forward_poll(Call& call, const recorder::LayerScope& scope, Real& real) {
  const Ticks began = begin_poll(call);
  CompletionOf<row> completion(call);
  const int result = real();
  if (__builtin_expect(recorder::mode() == 0, 0)) return result;
  if (scope.outermost()) {
    if (result == 0 && call.was_unsuccessful_poll()) {
      count_poll(call, began);
      return result;
    }
    begin_call(call);
    if (call.armed()) call.event->begin = began;
  }
  completion.finish(result);
  end_call(call, result);
  return result;
}

/// Calls `real` exactly once. `real` returns the MPI error code and must pass Status and Statuses from `words`, where
/// they may have been replaced. scope.outermost() turns false if the call was closed early, because it looked
/// abandoned (possible with user-level threads).
template <const Row& row, class Real>
int intercept(std::uint64_t* words, bool fortran, Real&& real) {
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) {
    recorder::lose_event(recorder::kMpi);
    return real();
  }
  const recorder::LayerScope scope(*thread, Layer::kMpi);
  if (!scope.outermost()) return real();
  if constexpr (row.behavior == Behavior::Collective) {
    if (is_only_counted(recorder::mode())) {
      const Call call{row, *thread, words, fortran};
      count_collective(call.comm_argument());
      return real();
    }
  }
  if constexpr (row.behavior == Behavior::Abort) {
    Call call{row, *thread, words, fortran};
    begin_call(call);
    session::finish(session::End::kAbrupt);
    return real();
  }
  Call call{row, *thread, words, fortran};
  if constexpr (row.polls()) {
    if (folds_polls()) return forward_poll<row>(call, scope, real);
  }
  const int result = forward_event<row>(call, scope, real);
  if constexpr (row.behavior == Behavior::Finalize) session::flush();
  return result;
}

}  // namespace profshim::mpi
