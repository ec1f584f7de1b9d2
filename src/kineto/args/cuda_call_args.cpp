// CUDA calls recorded by symbol hooks.
#include <cstdio>
#include <iterator>

#include "event_args.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

namespace arg = schema::arg;

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

}  // namespace profshim::kineto
