// At the import of PyTorch, the stub torch/_C.so calls initModule() of libtorch_python by symbol. dlopen() cannot be
// hooked: its search depends on the caller. Source: torch/csrc/stub.c, 1.13 to 2.x.
#include <dlfcn.h>

#include <atomic>

#include "inject/core/loader/resolve.h"
#include "operators.h"
#include "profshim/session.h"

// Another library may export this name, so all arguments pass through.
extern "C" [[gnu::visibility("default")]] void* initModule(void* a, void* b, void* c, void* d, void* e, void* f) {
  using Function = void* (*)(void*, void*, void*, void*, void*, void*);
  // A later call is for another library's function.
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
