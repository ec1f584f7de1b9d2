#include "functions.h"

#include <atomic>
#include <string>

#include "abi.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::python {
namespace {

constinit std::atomic<bool> is_requested{false};

void refuse(const std::string& reason) {
  const std::string sentence = "phases of Python functions are not seen: " + reason + "; use nvtx or torch ranges";
  log::line(LogLevel::kWarn, "%s", sentence.c_str());
  recorder::missing("python", sentence);
}

/// Python calls this on its main thread, with the GIL and between two instructions.
int install(void*) {
  const char* const why_not = api().version >= 0x030c ? install_monitoring() : install_eval_frame();
  if (why_not != nullptr) {
    api().clear_error();
    refuse(why_not);
  }
  return 0;
}

/// Collector thread: the interpreter may start later, and its queue of calls may be full.
void request() {
  if (is_requested.load(std::memory_order_relaxed)) return;
  if (!find_api()) return;
  if (api().version < 0x030a) {
    is_requested = true;
    return refuse("Python 3.10 or later is needed");
  }
  if (api().add_pending_call != nullptr && api().add_pending_call(install, nullptr) == 0) is_requested = true;
}

}  // namespace

void on_activate() {
  if (session::phase_patterns(PhaseSource::kPython).empty()) return;
  request();
  if (!is_requested) session::call_every_tick(request);
}

}  // namespace profshim::python
