#include "fakes/cudart/runtime.h"

using namespace fake::cudart;

EXPORT int cudaStreamCreate(void** stream) {
  CALL("cudaStreamCreate_v3020", 129);
  *stream = device.create_stream(0);
  return leave(call, 0);
}
EXPORT int cudaStreamCreateWithFlags(void** stream, unsigned) {
  CALL("cudaStreamCreateWithFlags_v5000", 198);
  *stream = device.create_stream(0);
  return leave(call, 0);
}
EXPORT int cudaStreamCreateWithPriority(void** stream, unsigned, int priority) {
  CALL("cudaStreamCreateWithPriority_v5050", 202);
  *stream = device.create_stream(priority);
  return leave(call, 0);
}
EXPORT int cudaStreamGetPriority(void* stream, int* priority) {
  CALL("cudaStreamGetPriority_v5050", 203);
  return leave(call, device.stream_priority(stream, priority));
}
EXPORT int cudaStreamDestroy(void* stream) {
  CALL("cudaStreamDestroy_v5050", 201);
  return leave(call, device.destroy_stream(stream));
}
EXPORT int cudaStreamSynchronize(void* stream) {
  CALL("cudaStreamSynchronize_v3020", 131);
  return leave(call, device.synchronize_stream(stream));
}
EXPORT int cudaStreamQuery(void* stream) {
  CALL("cudaStreamQuery_v3020", 132);
  return leave(call, device.query_stream(stream));
}
EXPORT int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  CALL("cudaStreamWaitEvent_v3020", 147);
  return leave(call, device.wait_event(stream, event));
}
EXPORT int cudaEventCreate(void** event) {
  CALL("cudaEventCreate_v3020", 133);
  *event = device.create_event();
  return leave(call, 0);
}
EXPORT int cudaEventCreateWithFlags(void** event, unsigned) {
  CALL("cudaEventCreateWithFlags_v3020", 134);
  *event = device.create_event();
  return leave(call, 0);
}
EXPORT int cudaEventRecord(void* event, void* stream) {
  CALL("cudaEventRecord_v3020", 135);
  return leave(call, device.record_event(event, stream));
}
EXPORT int cudaEventSynchronize(void* event) {
  CALL("cudaEventSynchronize_v3020", 137);
  return leave(call, device.synchronize_event(event));
}
EXPORT int cudaEventQuery(void* event) {
  CALL("cudaEventQuery_v3020", 138);
  return leave(call, device.query_event(event));
}
EXPORT int cudaEventDestroy(void* event) {
  CALL("cudaEventDestroy_v3020", 136);
  return leave(call, device.destroy_event(event));
}
EXPORT int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  CALL("cudaEventElapsedTime_v3020", 139);
  return leave(call, device.elapsed(from, to, milliseconds));
}
