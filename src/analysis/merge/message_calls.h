// The part that an MPI function takes in messages between two ranks, from the columns of hooks/mpi.def. Used by the
// scan of a trace, on any thread.
#pragma once

#include <string_view>

namespace profshim::analysis_detail {

struct MessageCall {
  bool sends = false;     // its begin is the send: to `dest` with `tag`
  bool receives = false;  // its end is the receive: from `source`, with `recv tag` if it also sends, else with `tag`
  /// The same for the asynchronous slice of a request, which is named after the function that made the request.
  bool slice_sends = false, slice_receives = false;
};

/// Returns no part for other functions, and for those whose matching order a trace does not show: matched probes
/// (MPI_Mrecv) and partitioned communication.
MessageCall message_call(std::string_view function);

}  // namespace profshim::analysis_detail
