#pragma once

#include <string_view>

namespace profshim::analysis_detail {

struct MessageCall {
  bool sends = false;     // at the call's begin; arguments `dest` and `tag`
  bool receives = false;  // at the call's end; arguments `source` and `tag`, or `recv tag` if the call also sends
  /// The same for the asynchronous slice of the call's request.
  bool slice_sends = false, slice_receives = false;
};

/// Returns all false for MPI_Mrecv and partitioned communication: traces do not show their message order.
/// Thread-safe.
MessageCall message_call(std::string_view function);

}  // namespace profshim::analysis_detail
