#include "event_args.h"

#include <cstdio>
#include <iterator>

#include "kineto/stacks/call_stacks.h"
#include "profshim/json.h"
#include "profshim/python/calls.h"
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

// CUDA calls recorded by symbol hooks.

// Adds no "correlation" and no "stream": trace readers would take the call for device activity and the stream's handle
// for a stream number.
void EventArgs::add_cuda_call(const Event& event) {
  constexpr std::string_view kCopyKinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};
  const CudaCallArgs& call = event.cuda_call;
  if (const std::string_view kernel = view_.string(call.kernel); !kernel.empty()) add(arg::kKernel, kernel);
  if (call.has_bytes != 0) add(arg::kBytes, call.bytes);
  if (call.copy_kind < std::size(kCopyKinds)) add(arg::kCopyKind, kCopyKinds[call.copy_kind]);
  if (call.has_stream != 0) {
    std::snprintf(stream_, sizeof stream_, "0x%llx", static_cast<unsigned long long>(call.stream));
    add(arg::kStreamHandle, std::string_view{stream_});
  }
  if ((event.flags & kFailed) != 0) add(arg::kError, std::int64_t{call.result});
  add(arg::kSeenBy, std::string_view{"symbol"});
}

using python_calls::CallSite;

std::string EventArgs::python_name(const Event& event) const {
  const CallSite site = CallSite::parse(view_.string(event.name));
  const std::string_view name = view_.string(site.name);
  if (name.empty()) return "(name lost)";
  if (event.python_call.module == kNoModule) return std::string(name);
  return std::string(schema::name::kModuleStart) + std::string(name) + "_" + std::to_string(event.python_call.module);
}

// In PyTorch's order.
void EventArgs::add_python(const Event& event) {
  const PythonCallArgs& call = event.python_call;
  const CallSite site = CallSite::parse(view_.string(event.name));
  if (site.caller != 0) add(arg::kCallFrom, view_.string(site.caller));
  if (call.parent != 0) add(arg::kPythonParentId, call.parent);
  add(arg::kPythonId, call.id);
  if (call.module != kNoModule) add(arg::kPythonModuleId, call.module);
}

// The processor has fewer counters than its users ask for, and lets them take turns: a value is then an estimate from
// the share of the time in which it was counted.
void for_each_counter(const PerfReading& counted,
                      const std::function<void(std::string_view, decltype(Arg::value))>& add) {
  const auto enabled = static_cast<double>(counted.enabled_ns), ran = static_cast<double>(counted.ran_ns);
  const bool is_shared = counted.ran_ns < counted.enabled_ns;
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (!counted.knows(n)) continue;
    const PerfCounterName& name = kPerfCounterNames[n];
    const bool is_estimate = is_shared && is_of_hardware(static_cast<PerfCounter>(n));
    if (is_estimate && counted.ran_ns == 0) continue;
    const auto value = static_cast<double>(counted.values[n]);
    if (name.is_time) {
      add(name.arg, value / 1000);
    } else {
      add(name.arg, is_estimate ? static_cast<std::uint64_t>(value * enabled / ran) : counted.values[n]);
    }
  }
  if (is_shared) add(schema::arg::kCountedPercent, 100 * ran / enabled);
}

void add_step_args(const WindowSteps& steps, std::size_t step, StepArgList& args) {
  args.add(schema::arg::kStepIndex, steps.marks()[step].index);
  if (const std::optional<std::int64_t> cpu_ns = steps.cpu_ns(step))
    args.add(schema::arg::kStepCpuUs, static_cast<double>(*cpu_ns) / 1000);
  for_each_counter(steps.counted(step), [&args](std::string_view key, const auto& value) { args.add(key, value); });
  if (!steps.is_complete(step)) args.add(schema::arg::kFinished, false);
}

}  // namespace profshim::kineto
