// EventArgs: CUDA calls that hooks/cuda.def intercepted because CUPTI could not be had.
#include <cstdio>
#include <iterator>

#include "event_args.h"

namespace profshim::kineto {

// There is no "correlation" and no "stream" here: readers take a correlation for a link to device activity and a stream
// for its number. A call seen by symbol has neither.
void EventArgs::add_cuda_call(const Event& event) {
  constexpr std::string_view kCopyKinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};
  const CudaCallArgs& call = event.cuda_call;
  if (const std::string_view kernel = view_.string(call.kernel); !kernel.empty()) add("kernel", kernel);
  if (call.has_bytes != 0) add("bytes", call.bytes);
  if (call.copy_kind < std::size(kCopyKinds)) add("kind", kCopyKinds[call.copy_kind]);
  if (call.has_stream != 0) {
    std::snprintf(stream_, sizeof stream_, "0x%llx", static_cast<unsigned long long>(call.stream));
    add("stream handle", std::string_view{stream_});
  }
  if ((event.flags & kFailed) != 0) add("error", std::int64_t{call.result});
  add("seen by", std::string_view{"symbol"});
}

}  // namespace profshim::kineto
