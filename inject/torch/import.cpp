// How we notice that a Python program has imported PyTorch, without a thread and without touching dlopen (what that
// finds depends on who calls it): torch/_C.so is a stub whose one call is to initModule() of libtorch_python, by
// symbol. Source: torch/csrc/stub.c, 1.13 to 2.x. By then PyTorch's libraries are there, and no operator has run.
#include <dlfcn.h>

#include <atomic>

#include "inject/core/resolve.h"
#include "inject/torch/calls/memory.h"
#include "operators.h"
#include "profshim/session.h"

// With the GIL held. The name is no namespace of PyTorch's: whoever else has a function of that name gets what it
// passes, and what comes back.
extern "C" [[gnu::visibility("default")]] void* initModule(void* a, void* b, void* c, void* d, void* e, void* f) {
  using Function = void* (*)(void*, void*, void*, void*, void*, void*);
  // PyTorch is imported once; whoever calls later means another one, where there is another one.
  static constinit std::atomic<bool> was_imported{false};
  void* torchs = profshim::inject::resolve_in("initModule", profshim::Layer::kTorch);
  if (torchs == nullptr || was_imported.exchange(true)) {
    if (void* const other = dlsym(RTLD_NEXT, "initModule")) torchs = other;
  } else {
    profshim::torch::find_memory_functions();
    if (profshim::session::requested()) profshim::torch::look_for_torch();
  }
  const auto real = reinterpret_cast<Function>(torchs);
  return real != nullptr ? real(a, b, c, d, e, f) : nullptr;
}
