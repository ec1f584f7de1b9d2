// Metadata events ("ph": "M") name and order processes and tracks.
#pragma once

#include <string>

#include "profshim/trace/events.h"
#include "profshim/trace/schema.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

struct TrackId {
  std::int64_t pid = 0, tid = 0;
};

inline void write_metadata(TraceWriter& out, std::string_view name, TrackId track, std::int64_t at_ns,
                           std::string_view key, decltype(Arg::value) value) {
  const Arg arg{key, value};
  TraceEvent e;
  e.phase = schema::phase::kMetadata;
  e.name = name;
  e.pid = track.pid;
  e.tid = track.tid;
  e.begin_ns = at_ns;
  e.args = {&arg, 1};
  out.write(e);
}

/// `label`: shown beside the name.
inline void name_process(TraceWriter& out, TrackId id, std::int64_t at_ns, std::string_view name,
                         std::string_view label, std::int64_t sort_index) {
  write_metadata(out, schema::metadata::kProcessName, id, at_ns, schema::arg::kName, name);
  write_metadata(out, schema::metadata::kProcessLabels, id, at_ns, schema::arg::kLabels, label);
  write_metadata(out, schema::metadata::kProcessSortIndex, id, at_ns, schema::arg::kSortIndex, sort_index);
}

/// `overflow`: see OverflowTracks; 0 = the track itself.
inline void name_track(TraceWriter& out, TrackId id, std::int64_t at_ns, std::string name, int overflow,
                       std::int64_t sort_index) {
  if (overflow > 0) (name += schema::track::kOverflow) += std::to_string(overflow);
  write_metadata(out, schema::metadata::kThreadName, id, at_ns, schema::arg::kName, std::string_view{name});
  write_metadata(out, schema::metadata::kThreadSortIndex, id, at_ns, schema::arg::kSortIndex, sort_index);
}

}  // namespace profshim::kineto
