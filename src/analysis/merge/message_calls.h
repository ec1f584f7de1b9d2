// Tells which MPI functions send or receive messages, from hooks/mpi.def. Any thread.
#pragma once

#include <string_view>

namespace profshim::analysis_detail {

struct MessageCall {
  bool sends = false;     // at the begin of the call, to args `dest` with `tag`
  bool receives = false;  // at its end, from `source` with `tag`; `recv tag` if it also sends
  /// The same for the asynchronous slice of the call's request.
  bool slice_sends = false, slice_receives = false;
};

/// No role for matched probes (MPI_Mrecv) and partitioned communication: traces do not show their order.
MessageCall message_call(std::string_view function);

}  // namespace profshim::analysis_detail
