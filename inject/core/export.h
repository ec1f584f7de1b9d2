// The name of an export must also match a pattern in inject/exports.map.
#pragma once

#define PROFSHIM_EXPORT extern "C" __attribute__((visibility("default")))
