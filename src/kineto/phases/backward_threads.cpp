#include "backward_threads.h"

#include <algorithm>

namespace profshim::kineto {

bool runs_only_backward(const std::vector<const Event*>& events) {
  std::vector<const Event*> of_torch;
  for (const Event* event : events) {
    if (hook_layer(event->hook) == Layer::kTorch && event->hook != HookId::kTorchMemory) of_torch.push_back(event);
  }
  std::sort(of_torch.begin(), of_torch.end(), [](const Event* a, const Event* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  Ticks until = 0;  // end of the backward functions so far
  for (const Event* event : of_torch) {
    if (event->hook == HookId::kTorchBackward) {
      until = std::max(until, event->end);
    } else if (event->begin >= until) {
      return false;
    }
  }
  return until != 0;
}

}  // namespace profshim::kineto
