// Role of an MPI function in messages, from hooks/mpi.def. Any thread.
#pragma once

#include <string_view>

namespace profshim::analysis_detail {

struct MessageCall {
  bool sends = false;     // its begin is the send: to `dest` with `tag`
  bool receives = false;  // its end is the receive from `source`, with `recv tag` if it also sends
  /// The same for the asynchronous slice of its request.
  bool slice_sends = false, slice_receives = false;
};

/// No role for matched probes (MPI_Mrecv) and partitioned communication: traces do not show their order.
MessageCall message_call(std::string_view function);

}  // namespace profshim::analysis_detail
