// Metadata events ("ph": "M") name and order tracks.
#pragma once

#include "profshim/trace/events.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

struct TrackId {
  std::int64_t pid = 0, tid = 0;
};

inline void write_metadata(TraceWriter& out, std::string_view name, TrackId track, std::int64_t at_ns,
                           std::string_view key, decltype(Arg::value) value) {
  const Arg arg{key, value};
  TraceEvent e;
  e.phase = 'M';
  e.name = name;
  e.pid = track.pid;
  e.tid = track.tid;
  e.begin_ns = at_ns;
  e.args = {&arg, 1};
  out.write(e);
}

}  // namespace profshim::kineto
