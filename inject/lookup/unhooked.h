#pragma once

#include <cstdint>

namespace profshim::inject {

/// Why calls of a library are not recorded.
enum class Unhooked : std::uint8_t {
  kOtherLibrary,    // the hook forwards to a function of another library, or of another tool
  kOtherNamespace,  // dlmopen()
  kBoundPast,       // RTLD_DEEPBIND, and the file's table of addresses cannot be written
  kCount
};

/// Remembers it, and says so in the trace: at once, or when the recording begins. Any thread.
/// `name`: of a function. `function`: an address in the library that has it, or that calls it.
void note_unhooked(Unhooked why, const char* name, const void* function);

/// Call when the recording begins, or ends without having begun.
void report_unhooked();

/// The first library of note_unhooked(), or null.
const char* unhooked_library();

}  // namespace profshim::inject
