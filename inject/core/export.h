// Marks an export. inject/exports.map must match its name too.
#pragma once

#define PROFSHIM_EXPORT extern "C" __attribute__((visibility("default")))
