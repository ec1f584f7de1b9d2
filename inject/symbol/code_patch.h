// Replaces the entry of a function in this process by a jump: finds memory near it, and writes so that no thread
// executes a partly written instruction.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/elf.h"

namespace profshim::code_patch {

/// Makes calls of `function` (its bytes in this process) run `stub_target` first: a routine that finds `index` above
/// its return address and preserves all registers. Returns false and sets `refusal` if that is impossible; the function
/// is then unchanged.
///
/// Known limit: a thread that is executing the first few bytes of the function during the write would crash. Patching
/// happens at activation and right after a library is loaded, when this is very unlikely.
bool install(const elf::Code& function, const elf::File& file, const elf::Function& symbol, std::uint64_t bias,
             const void* stub_target, std::uint32_t index, std::string& refusal);

/// Returns true if the code at `address` begins with a jump (after an endbr64), so that a patch is still in place.
bool is_patched(std::uint64_t address);

}  // namespace profshim::code_patch
