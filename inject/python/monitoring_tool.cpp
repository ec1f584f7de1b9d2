#include "monitoring_tool.h"

namespace profshim::python {
namespace {

bool is_done(Object* result) {
  const Owned owned(result);
  api().clear_error();
  return result != nullptr;
}

}  // namespace

/// The numbers 0, 1, 2 and 5 are for debuggers, coverage tools, profilers and optimizers.
bool MonitoringTool::take_number() {
  for (const int number : {4, 3}) {
    if (!is_done(api().call_method(monitoring_, "use_tool_id", "is", number, "profshim"))) continue;
    number_ = number;
    return true;
  }
  return false;
}

const char* MonitoringTool::take(std::span<Handler> handlers) {
  monitoring_ = api().from_sys("monitoring");
  if (monitoring_ == nullptr) return "this Python has no sys.monitoring";
  api().add_reference(monitoring_);
  disable_ = api().get_attribute(monitoring_, "DISABLE");
  missing_ = api().get_attribute(monitoring_, "MISSING");
  const Owned events(api().get_attribute(monitoring_, "events"));
  api().clear_error();
  if (disable_ == nullptr || missing_ == nullptr || events.get() == nullptr || api().none == nullptr) {
    return "sys.monitoring is not as its reference says";
  }
  if (!take_number()) return "other tools use the numbers 3 and 4 of sys.monitoring";
  for (Handler& handler : handlers) {
    handler.bit = number_of(events.get(), handler.event);
    const Owned function(api().make_function(&handler.function, nullptr, nullptr));
    if (handler.bit == 0 || function.get() == nullptr ||
        !is_done(api().call_method(monitoring_, "register_callback", "ilO", number_, handler.bit, function.get()))) {
      return "sys.monitoring refused a callback";
    }
  }
  return nullptr;
}

bool MonitoringTool::set_events(long bits) const {
  return is_done(api().call_method(monitoring_, "set_events", "il", number_, bits));
}

bool MonitoringTool::set_local_events(Object* code, long bits) const {
  return is_done(api().call_method(monitoring_, "set_local_events", "iOl", number_, code, bits));
}

}  // namespace profshim::python
