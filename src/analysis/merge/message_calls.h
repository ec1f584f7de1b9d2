// Finds in hooks/mpi.def which MPI functions send or receive messages. Thread-safe.
#pragma once

#include <string_view>

namespace profshim::analysis_detail {

struct MessageCall {
  bool sends = false;     // when the call begins: args `dest` and `tag`
  bool receives = false;  // when it ends: args `source` and `tag`; `recv tag` if it also sends
  /// The same for the asynchronous slice that shows the request.
  bool slice_sends = false, slice_receives = false;
};

/// Returns all false for MPI_Mrecv and partitioned communication: traces do not show their order.
MessageCall message_call(std::string_view function);

}  // namespace profshim::analysis_detail
