#include <cstdint>

#include "fakes/cudart/runtime.h"

using namespace fake::cudart;
using fake::ApiCall;

EXPORT int cudaStreamBeginCapture(void* stream, int) {
  CALL("cudaStreamBeginCapture_v10000", 315);
  return leave(call, device.begin_capture(stream));
}
EXPORT int cudaStreamEndCapture(void* stream, void** graph) {
  CALL("cudaStreamEndCapture_v10000", 319);
  return leave(call, device.end_capture(stream, graph));
}
EXPORT int cudaStreamIsCapturing(void* stream, int* status) {
  CALL("cudaStreamIsCapturing_v10000", 317);
  std::uint64_t id = 0;
  const int result = device.capture_id(stream, &id);
  *status = id != 0 ? 1 : 0;
  return leave(call, result);
}
EXPORT int cudaGraphCreate(void** graph, unsigned) {
  CALL("cudaGraphCreate_v10000", 286);
  *graph = device.create_graph();
  return leave(call, 0);
}
EXPORT int cudaGraphGetNodes(void* graph, void**, std::size_t* count) {
  CALL("cudaGraphGetNodes_v10000", 322);
  return leave(call, device.graph_nodes(graph, count));
}
// Ignores further arguments: error node and log in CUDA 11, flags since CUDA 12.
EXPORT int cudaGraphInstantiate(void** executable, void* graph) {
  CALL(FAKE_CUDART_VERSION >= 12000 ? "cudaGraphInstantiate_v12000" : "cudaGraphInstantiate_v10000",
       FAKE_CUDART_VERSION >= 12000 ? 443 : 310);
  return leave(call, device.instantiate(graph, executable));
}
EXPORT int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  CALL("cudaGraphInstantiateWithFlags_v11040", 418);
  return leave(call, device.instantiate(graph, executable));
}
EXPORT int cudaGraphLaunch(void* executable, void* stream) {
  CALL("cudaGraphLaunch_v10000", 311);
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 514, "cuGraphLaunch"};
  ApiCall nested(device, kNested);
  return leave(call, nested.returns(device.launch_graph(executable, stream)));
}
EXPORT int cudaGraphExecDestroy(void* executable) {
  CALL("cudaGraphExecDestroy_v10000", 313);
  return leave(call, device.destroy_executable(executable));
}
EXPORT int cudaGraphDestroy(void* graph) {
  CALL("cudaGraphDestroy_v10000", 314);
  return leave(call, device.destroy_graph(graph));
}
