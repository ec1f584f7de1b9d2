#include "event_args.h"
#include "profshim/python/calls.h"

namespace profshim::kineto {

namespace arg = schema::arg;
using python_calls::CallSite;

std::string EventArgs::python_name(const Event& event) const {
  const CallSite site = CallSite::parse(view_.string(event.name));
  const std::string_view name = view_.string(site.name);
  if (name.empty()) return "(name lost)";
  if (event.python_call.module == kNoModule) return std::string(name);
  return std::string(schema::name::kModuleStart) + std::string(name) + "_" + std::to_string(event.python_call.module);
}

// In PyTorch's order.
void EventArgs::add_python(const Event& event) {
  const PythonCallArgs& call = event.python_call;
  const CallSite site = CallSite::parse(view_.string(event.name));
  if (site.caller != 0) add(arg::kCallFrom, view_.string(site.caller));
  if (call.parent != 0) add(arg::kPythonParentId, call.parent);
  add(arg::kPythonId, call.id);
  if (call.module != kNoModule) add(arg::kPythonModuleId, call.module);
}

}  // namespace profshim::kineto
