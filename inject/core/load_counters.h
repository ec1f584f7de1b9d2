#pragma once

#include <cstdint>

namespace profshim::inject {

/// How often the loader has added and removed files. Takes the loader's lock; allocates nothing.
struct LoadCounters {
  std::uint64_t loads = 0, unloads = 0;
  bool operator==(const LoadCounters&) const = default;
};
LoadCounters load_counters();

}  // namespace profshim::inject
