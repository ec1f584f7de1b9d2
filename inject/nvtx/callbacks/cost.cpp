#include "profshim/recorder_control.h"
#include "ranges.h"

namespace profshim::nvtx {

double range_cost() {
  char name[] = "?ost of a range";
  // The name must not be a step marker.
  for (name[0] = 'a'; name[0] <= 'z' && session::may_be_marker(name[0]); ++name[0]) continue;
  if (name[0] > 'z') return -1;
  Annotation annotation;
  annotation.c_text = name;
  recorder::ScratchThread scratch;
  return scratch.cost_ns([&annotation] {
    push(default_domain, annotation);
    pop(default_domain, nullptr, 0);
  });
}

}  // namespace profshim::nvtx
