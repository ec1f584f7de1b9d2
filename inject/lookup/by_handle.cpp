// Calls that the job finds by dlsym(handle, name): ctypes, cffi, Julia, the stubs of vLLM, CuPy and XLA.
#include <cerrno>

#include "bindings.h"
#include "hooked_names.h"
#include "inject/activation.h"
#include "inject/core/loader/loaded_symbol.h"
#include "inject/core/loader/real_dlsym.h"
#include "inject/core/loader/resolve.h"
#include "unhooked.h"

namespace profshim::inject {
namespace {

/// True if a hook may stand for `found`: a function of a library of the layer, looked up by other code than the layer's
/// libraries, whose calls among each other are no calls of the job, and than this library.
bool is_call_of_job(const Object& library, const Object& caller, Layer layer) {
  if (!belongs(library.name, layer) || belongs(caller.name, layer)) return false;
  return caller.headers != object_at(reinterpret_cast<const void*>(&is_call_of_job)).headers;
}

void* hook_or(void* found, const char* name, const HookedFunction& hooked, const void* caller) {
  void* const hook = own_export(name);
  if (hook == nullptr || hook == found) return found;
  const Object library = object_at(found);
  if (library.headers == nullptr) {
    note_unhooked(Unhooked::kOtherNamespace, name, found);
    return found;
  }
  if (!is_call_of_job(library, object_at(caller), hooked.layer)) return found;
  if (hooked.real.adopt(name, found)) return hook;
  note_unhooked(Unhooked::kOtherLibrary, name, found);
  return found;
}

}  // namespace
}  // namespace profshim::inject

/// Called by dlsym.S for a lookup by a handle. Returns hooked_name(), or 0 if the real function must answer.
extern "C" [[gnu::visibility("hidden")]] std::uint32_t profshim_hooked_lookup(void* handle, const char* name) {
  using namespace profshim::inject;
  if (!hooks_lookups()) return 0;
  rebind_new_files(handle);
  return hooked_name(name);
}

/// Called by dlsym.S. `version`: null for dlsym(). `caller`: its return address. A failed lookup leaves dlerror() to
/// the job, and a successful one leaves it empty.
extern "C" [[gnu::visibility("hidden")]] void* profshim_look_up(void* handle, const char* name, const char* version,
                                                                std::uint32_t number, const void* caller) {
  using namespace profshim::inject;
  void* const found = version == nullptr ? next_dlsym()(handle, name) : next_dlvsym()(handle, name, version);
  if (found == nullptr) return nullptr;
  const int saved_errno = errno;
  void* const answer = hook_or(found, name, hooked_function(number), caller);
  errno = saved_errno;
  return answer;
}
