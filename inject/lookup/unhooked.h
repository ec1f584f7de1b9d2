#pragma once

#include <cstdint>

namespace profshim::inject {

/// Why a call that the job has looked up by a handle is not recorded.
enum class Unhooked : std::uint8_t {
  kOtherLibrary,    // the hook forwards to a function of another library, or of another tool
  kOtherNamespace,  // dlmopen()
  kCount
};

/// Remembers it, and says so in the trace: at once, or when the recording begins. Any thread.
void note_unhooked(Unhooked why, const char* name, const void* function);

/// Call when the recording begins.
void report_unhooked();

}  // namespace profshim::inject
