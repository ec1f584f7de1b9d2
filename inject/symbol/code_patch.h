// Replaces the entry of a function by a jump, so that no thread executes a partly written instruction.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/elf.h"

namespace profshim::code_patch {

/// Calls of `function` (its bytes in this process) run `stub_target` first, which finds `index` above its return
/// address and preserves all registers. On failure, returns false, sets `refusal` and changes nothing.
///
/// Known limit: a thread inside the first few bytes during the write crashes. Very unlikely at activation or right
/// after loading.
bool install(const elf::Code& function, const elf::File& file, const elf::Function& symbol, std::uint64_t bias,
             const void* stub_target, std::uint32_t index, std::string& refusal);

/// True if a jump is still at `address` (after an endbr64).
bool is_patched(std::uint64_t address);

}  // namespace profshim::code_patch
