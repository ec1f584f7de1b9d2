// Detects that a Python program imports PyTorch. torch/_C.so is a stub that only calls initModule() of libtorch_python,
// by symbol, and this hook gets the call. PyTorch's libraries are loaded then, and no operator has run. A hook of
// dlopen() would not do: the libraries that dlopen() finds depend on its caller. Source: torch/csrc/stub.c, 1.13
// to 2.x.
#include <dlfcn.h>

#include <atomic>

#include "inject/core/resolve.h"
#include "inject/torch/calls/memory.h"
#include "operators.h"
#include "profshim/session.h"

// Called with the GIL held. The name is not special to PyTorch: another library may have a function of that name, so
// the hook passes on all arguments and the result.
extern "C" [[gnu::visibility("default")]] void* initModule(void* a, void* b, void* c, void* d, void* e, void* f) {
  using Function = void* (*)(void*, void*, void*, void*, void*, void*);
  // PyTorch is imported once. A later call means the function of another library, if there is one.
  static constinit std::atomic<bool> was_imported{false};
  void* real = profshim::inject::resolve_in("initModule", profshim::Layer::kTorch);
  if (real == nullptr || was_imported.exchange(true)) {
    if (void* const other = dlsym(RTLD_NEXT, "initModule")) real = other;
  } else {
    profshim::torch::find_memory_functions();
    if (profshim::session::requested()) profshim::torch::attach_if_loaded();
  }
  return real != nullptr ? reinterpret_cast<Function>(real)(a, b, c, d, e, f) : nullptr;
}
