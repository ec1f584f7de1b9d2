// A PyTorch observer that does nothing (see inject/torch/abi.h). `result` is the address of the std::unique_ptr that
// start() returns.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

struct callback {
  void* (*start)(void** result, const void* function);
  void (*end)(const void* function, void* context);
  double probability;
  bool scopes[10], needs_inputs, needs_outputs, needs_ids;
};

static void* start(void** result, const void* function) {
  (void)function;
  *result = 0;
  return result;
}
static void end(const void* function, void* context) { (void)function, (void)context; }

void observe(void* libtorch_cpu) {
  uint64_t (*add)(struct callback) = dlsym(libtorch_cpu, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
  struct callback nothing = {start, end, 1.0, {true}, false, false, false};
  if (add != 0) add(nothing);
}
