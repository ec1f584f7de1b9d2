#include "event_args.h"

#include "kineto/stacks/call_stacks.h"
#include "profshim/json.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

namespace arg = schema::arg;

std::span<const Arg> EventArgs::args_of(const Event& event, const Event* second) {
  args_.clear();
  if (event.hook == HookId::kNvtxRange || event.hook == HookId::kNvtxMark) {
    add_nvtx(event.nvtx);
  } else if (event.hook == HookId::kMpiPolls) {
    add_polls(event);
  } else if (hook_layer(event.hook) == Layer::kMpi) {
    add_mpi(event, second);
  } else if (!cuda_call_name(event.hook).empty()) {
    add_cuda_call(event);
  } else if (hook_layer(event.hook) == Layer::kNccl) {
    add_nccl(event);
  } else if (is_rpc(event.hook)) {
    add_rpc(event);
  } else if (event.hook == HookId::kPythonCall) {
    add_python(event);
  } else if (hook_layer(event.hook) == Layer::kTorch) {
    add_torch(event.torch);
    add_flops(event);
  }
  if (const StringId stack = stack_of(event); stack != 0) add_stack(stack);
  if ((event.flags & kUnfinished) != 0) add(arg::kFinished, false);
  return args_.all();
}

// The TensorBoard plugin splits stacks at semicolons.
void EventArgs::add_stack(StringId stack) {
  constexpr std::size_t kLongest = 64 << 10;
  const auto join = [](const CallStacks::Frames& frames, std::string& text, char between = ';') {
    text.clear();
    for (const std::string_view frame : frames) {
      if (text.size() + frame.size() > kLongest) break;
      if (!text.empty()) text += between;
      text += frame;
    }
    return std::string_view{text};
  };
  if (const std::string_view text = join(stacks_.frames(stack), stack_); !text.empty()) add(arg::kCallStack, text);
  if (const std::string_view text = join(stacks_.native_frames(stack), native_stack_); !text.empty()) {
    add(arg::kNativeStack, text);
  }
  if (const std::string_view text = join(stacks_.modules(stack), modules_, '.'); !text.empty())
    add(arg::kModuleHierarchy, text);
}

bool EventArgs::is_json(StringId id, std::string_view text) {
  const auto [at, is_new] = is_json_.try_emplace(id, false);
  if (is_new) at->second = valid_json(text);
  return at->second;
}

}  // namespace profshim::kineto
