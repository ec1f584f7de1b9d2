#pragma once

#include "spec/spec_keys.h"

namespace profshim::spec {

KeyRow perf_row();

}  // namespace profshim::spec
