#pragma once

#include <ostream>

#include "profshim/trace/reader.h"

namespace profshim::test {

inline void print_event(std::ostream& out, const ReadEvent& e) {
  out << e.phase << '|' << e.category << '|' << e.name << '|' << e.has_pid << e.pid_is_number << e.pid << e.pid_text
      << '|' << e.has_tid << e.tid_is_number << e.tid << e.tid_text << '|' << e.has_name << e.has_ts << e.has_duration
      << e.has_id << '|' << std::hexfloat << e.ts_us << '|' << e.duration_us << '|' << e.ts_ns << '|' << e.duration_ns
      << '|' << e.finer_than_ns << '|' << e.id << '|' << e.scope << '|' << e.binding_point;
  for (const auto& arg : e.args) {
    out << "\n  " << arg.key << '|' << static_cast<int>(arg.kind) << '|' << arg.integer << '|' << std::hexfloat
        << arg.number << '|' << arg.text;
  }
  out << '\n';
}

}  // namespace profshim::test
