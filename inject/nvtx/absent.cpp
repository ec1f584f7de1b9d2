// Takes the place of the other nvtx_*.cpp where the machine that built the library had no NVTX headers.
#include "injection.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::nvtx {

void set_injection_path(const char*) {}

void on_activate() {
  const Spec* const spec = session::spec();
  if (spec == nullptr || (!spec->activities.nvtx && spec->steps.source != StepSource::kNvtx)) return;
  recorder::problem("nvtx", "NVTX ranges are not recorded: the library was built without the headers of NVTX");
}

}  // namespace profshim::nvtx
