#include "load_counters.h"

#include <link.h>

namespace profshim::inject {

LoadCounters load_counters() {
  LoadCounters counters;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<LoadCounters*>(to) = {.loads = info->dlpi_adds, .unloads = info->dlpi_subs};
        return 1;
      },
      &counters);
  return counters;
}

}  // namespace profshim::inject
