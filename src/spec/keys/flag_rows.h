// Keys whose value is a list of flags.
#pragma once

#include "spec/spec_keys.h"

namespace profshim::spec {

KeyRow activities_row();
KeyRow require_any_row();

}  // namespace profshim::spec
