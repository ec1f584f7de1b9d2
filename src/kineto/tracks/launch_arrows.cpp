#include "launch_arrows.h"

#include "profshim/trace/schema.h"

namespace profshim::kineto {

void write_arrow_start(TraceWriter& out, const TraceEvent& call, std::uint32_t correlation) {
  TraceEvent flow;
  flow.phase = 's';
  flow.category = Category::kAc2g;
  flow.name = schema::category::kAc2g;
  flow.pid = call.pid;
  flow.tid = call.tid;
  flow.begin_ns = call.begin_ns;
  flow.id = correlation;
  out.write(flow);
}

void write_arrow_end(TraceWriter& out, TraceEvent activity, std::uint32_t correlation) {
  activity.phase = 'f';
  activity.category = Category::kAc2g;
  activity.name = schema::category::kAc2g;
  activity.id = correlation;
  activity.args = {};
  out.write(activity);
}

}  // namespace profshim::kineto
