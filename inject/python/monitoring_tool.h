// One tool of sys.monitoring (PEP 669).
#pragma once

#include <span>

#include "abi.h"

namespace profshim::python {

/// Call its functions with the GIL and no exception set.
class MonitoringTool {
 public:
  struct Handler {
    const char* event;  // "PY_START"
    MethodDef function;
    long bit = 0;  // set by take()
  };

  /// Takes a tool number, and registers the handlers, which must live on. Returns a reason if that fails, else null.
  const char* take(std::span<Handler> handlers);
  bool set_events(long bits) const;
  bool set_local_events(Object* code, long bits) const;

  // Results of handlers.
  Object* none() const { return api().none; }  // is never freed since 3.12
  /// Switches the event off at this instruction, for this tool.
  Object* disable() const {
    api().add_reference(disable_);
    return disable_;
  }
  /// Stands for a first argument that is missing.
  Object* missing() const { return missing_; }

 private:
  bool take_number();

  Object *monitoring_ = nullptr, *disable_ = nullptr, *missing_ = nullptr;
  int number_ = -1;
};

}  // namespace profshim::python
