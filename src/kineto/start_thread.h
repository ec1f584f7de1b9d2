#pragma once

#include "profshim/event.h"

namespace profshim::kineto {

/// Returns the thread that began a range with kStartEnd; 0 = unknown.
inline std::int64_t start_tid(const Event& range) {
  if (is_rpc(range.hook)) return static_cast<std::int64_t>(range.rpc.began_on);
  return hook_layer(range.hook) == Layer::kTorch ? static_cast<std::int64_t>(range.torch.record_function)
                                                 : std::int64_t{range.nvtx.start_tid};
}

}  // namespace profshim::kineto
