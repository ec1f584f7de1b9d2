#include "activity_kinds.h"

#include "profshim/recorder.h"

namespace profshim::device {
namespace {

const char* missing_part(std::uint32_t kind) {
  switch (kind) {
    case cupti::kMemcpyKind:
      return "copies";
    case cupti::kPeerCopyKind:
      return "copies between devices";
    case cupti::kMemsetKind:
      return "memsets";
    case cupti::kGraphTraceKind:
      return "graphs";
    case cupti::kExternalCorrelationKind:
      return "the NCCL call of each kernel";
    case cupti::kMemoryKind:
      return "CUDA allocations";
    case cupti::kSynchronizationKind:
      return "synchronizations";
    case cupti::kDeviceKind:
      return "the properties of the devices";
    case cupti::kRuntimeKind:
      return "calls of the runtime";
    case cupti::kDriverKind:
      return "calls of the driver";
    default:
      return nullptr;
  }
}

void append(std::string& list, const char* part) { list += (list.empty() ? "" : ", ") + std::string(part); }

}  // namespace

// Contexts come before streams and synchronizations, whose records do not name the device.
void ActivityKinds::enable_and_dump_existing() {
  for (const std::uint32_t kind : {cupti::kDeviceKind, cupti::kContextKind, cupti::kStreamKind}) {
    bool on = scope_.enable_and_dump(kind) == cupti::kSuccess;
    if (kind == cupti::kStreamKind) streams_are_dumped_ = on;
    on = on || scope_.enable(kind) == cupti::kSuccess;
    if (on) enabled_.push_back(kind);
    if (!on && missing_part(kind) != nullptr) append(not_recorded_, missing_part(kind));
  }
}

std::vector<std::uint32_t> ActivityKinds::other_kinds(const CaptureOptions& options) {
  std::vector<std::uint32_t> wanted = {cupti::kOverheadKind};
  if (options.external) wanted.push_back(cupti::kExternalCorrelationKind);
  if (options.memory) wanted.push_back(cupti::kMemoryKind);
  if (options.synchronization) {
    wanted.push_back(cupti::kCudaEventKind);  // links waits to their cudaEventRecord
    wanted.push_back(cupti::kSynchronizationKind);
  }
  for (const std::uint32_t kind : {cupti::kMemsetKind, cupti::kMemcpyKind, cupti::kPeerCopyKind}) {
    wanted.push_back(kind);
  }
  if (options.whole_graphs && !scope_.is_shared()) wanted.push_back(cupti::kGraphTraceKind);
  if (options.whole_graphs && scope_.is_shared()) {
    // CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE would take graph nodes from all other clients.
    recorder::problem("cupti",
                      "CUDA graphs are recorded as with capture.graphs = \"nodes\": one event per launch would hide "
                      "graph nodes from CUPTI's other clients");
  }
  wanted.push_back(cupti::kDriverKind);
  wanted.push_back(cupti::kRuntimeKind);
  return wanted;
}

int ActivityKinds::enable(const CaptureOptions& options) {
  not_recorded_.clear();
  // push_back() must not fail after a kind is on.
  constexpr std::size_t kMostKinds = 24;
  enabled_.reserve(kMostKinds);
  const int kernels = scope_.enable(cupti::kConcurrentKernelKind);
  if (kernels != cupti::kSuccess) return kernels;
  enabled_.push_back(cupti::kConcurrentKernelKind);
  enable_and_dump_existing();
  for (const std::uint32_t kind : other_kinds(options)) {
    if (scope_.enable(kind) == cupti::kSuccess) {
      enabled_.push_back(kind);
    } else if (const char* const part = missing_part(kind)) {
      append(not_recorded_, part);
    }
  }
  return cupti::kSuccess;
}

// Disables API calls first, kernels last: otherwise the drain would wait for activity that is not recorded.
void ActivityKinds::disable() {
  for (auto kind = enabled_.rbegin(); kind != enabled_.rend(); ++kind) scope_.disable(*kind);
  enabled_.clear();
}

void ActivityKinds::forget() { enabled_.clear(); }

}  // namespace profshim::device
