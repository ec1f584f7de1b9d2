#include "calls.h"
#include "inject/python/monitoring_tool.h"
#include "marks.h"
#include "profshim/recorder.h"

namespace profshim::python::calls {
namespace {

constinit MonitoringTool tool;

// The arguments of all events begin with the code object and the offset of the instruction.

bool is_recording() { return recorder::mode_has(recorder::kArmed); }
/// recorder::mode() is 0 in a forked child: there each place of the code switches itself off.
Object* not_recording() { return recorder::mode() == 0 ? tool.disable() : tool.none(); }

void begin_innermost(const CodeFunction& function) {
  python_stack::Frame frames[2];
  const std::size_t count = python_stack::walk(frames, 2);
  if (count > 0) begin(site_of(function, frames[0], count > 1 ? &frames[1] : nullptr));
}

Object* on_begin(Object*, Object* const* arguments, std::intptr_t) {
  if (!is_recording()) return not_recording();
  const CodeFunction* const function = of_code(arguments[0]);
  if (function == nullptr || function->is_left_out) return tool.disable();
  if (ready(Innermost::kBegins)) begin_innermost(*function);
  return tool.none();
}

Object* on_end(Object*, Object* const* arguments, std::intptr_t) {
  if (!is_recording()) return not_recording();
  const CodeFunction* const function = of_code(arguments[0]);
  if (function == nullptr || function->is_left_out) return tool.disable();
  if (ready(Innermost::kGoesOn)) end(function->number);
  return tool.none();
}

// These events cannot be switched off for one place.

Object* on_throw(Object*, Object* const* arguments, std::intptr_t) {
  if (!is_recording()) return tool.none();
  const CodeFunction* const function = of_code(arguments[0]);
  if (function != nullptr && !function->is_left_out && ready(Innermost::kBegins)) begin_innermost(*function);
  return tool.none();
}

Object* on_unwind(Object*, Object* const* arguments, std::intptr_t) {
  if (!is_recording()) return tool.none();
  const CodeFunction* const function = of_code(arguments[0]);
  if (function != nullptr && !function->is_left_out && ready(Innermost::kGoesOn)) end(function->number);
  return tool.none();
}

BuiltIn called_by(Object* const* arguments) {
  return built_in_of(arguments[2], arguments[3] == tool.missing() ? nullptr : arguments[3]);
}

Object* on_call(Object*, Object* const* arguments, std::intptr_t) {
  if (!is_recording()) return not_recording();
  const BuiltIn built_in = called_by(arguments);
  if (built_in.method == nullptr) return tool.none();
  const CodeFunction* const caller = of_code(arguments[0]);
  if (caller == nullptr || caller->is_left_out) return tool.disable();
  if (!ready(Innermost::kGoesOn)) return tool.none();
  python_stack::Frame frame;
  if (python_stack::walk(&frame, 1) == 1) begin(site_of(built_in, frame));
  return tool.none();
}

// Not DISABLE: CPython has this event only together with CALL.
Object* on_built_in_end(Object*, Object* const* arguments, std::intptr_t) {
  if (!is_recording()) return tool.none();
  const BuiltIn built_in = called_by(arguments);
  if (built_in.method == nullptr) return tool.none();
  const CodeFunction* const caller = of_code(arguments[0]);
  if (caller != nullptr && !caller->is_left_out && ready(Innermost::kGoesOn)) end(number_of(built_in));
  return tool.none();
}

constinit MonitoringTool::Handler handlers[] = {
    {"PY_START", {"profshim_begin", on_begin, kFastCall, nullptr}},
    {"PY_RESUME", {"profshim_begin", on_begin, kFastCall, nullptr}},
    {"PY_THROW", {"profshim_throw", on_throw, kFastCall, nullptr}},
    {"PY_RETURN", {"profshim_end", on_end, kFastCall, nullptr}},
    {"PY_YIELD", {"profshim_end", on_end, kFastCall, nullptr}},
    {"PY_UNWIND", {"profshim_unwind", on_unwind, kFastCall, nullptr}},
    {"CALL", {"profshim_call", on_call, kFastCall, nullptr}},
    {"C_RETURN", {"profshim_built_in_end", on_built_in_end, kFastCall, nullptr}},
    {"C_RAISE", {"profshim_built_in_end", on_built_in_end, kFastCall, nullptr}},
};

}  // namespace

const char* prepare_monitoring() { return tool.take(handlers); }

bool switch_monitoring(bool on) {
  long events = 0;
  for (const auto& handler : handlers) events |= on ? handler.bit : 0;
  return tool.set_events(events);
}

}  // namespace profshim::python::calls
