#include "fakes/cudart/runtime.h"

using namespace fake::cudart;
using fake::ApiCall;

EXPORT int cudaGetLastError() {
  const int error = last_error;
  last_error = 0;
  return error;
}
EXPORT int cudaPeekAtLastError() { return last_error; }
namespace {
struct ErrorText {
  int error;
  const char *name, *text;
};
const ErrorText& text_of(int error) {
  static constexpr ErrorText kTexts[] = {
      {0, "cudaSuccess", "no error"},
      {1, "cudaErrorInvalidValue", "invalid argument"},
      {2, "cudaErrorMemoryAllocation", "out of memory"},
      {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
      {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
      {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
      {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
      {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
      {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
      {600, "cudaErrorNotReady", "device not ready"},
      {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
      {-1, "cudaErrorUnknown", "unrecognized error code"},
  };
  for (const ErrorText& candidate : kTexts)
    if (candidate.error == error || candidate.error == -1) return candidate;
  __builtin_unreachable();
}
}  // namespace
EXPORT const char* cudaGetErrorString(int error) { return text_of(error).text; }
EXPORT const char* cudaGetErrorName(int error) { return text_of(error).name; }
EXPORT int cudaProfilerStart() {
  CALL("cudaProfilerStart_v4000", 171);
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 308, "cuProfilerStart"};
  ApiCall nested(device, kNested);
  return leave(call, nested.returns(0));
}
EXPORT int cudaProfilerStop() {
  CALL("cudaProfilerStop_v4000", 172);
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 309, "cuProfilerStop"};
  ApiCall nested(device, kNested);
  return leave(call, nested.returns(0));
}
