#pragma once

#include <cstdint>
#include <string>

#include "profshim/elf.h"

namespace profshim::code_patch {

/// Patches `function` in the memory of this process: its calls first run `stub_target`, which must preserve all
/// registers and finds `index` on the stack, above the return address. On failure, changes nothing but `refusal`.
/// Known limit: a thread that executes the first bytes during the write may crash. Very unlikely at activation.
bool install(const elf::Code& function, const elf::File& file, const elf::Function& symbol, std::uint64_t bias,
             const void* stub_target, std::uint32_t index, std::string& refusal);

/// True if a jump is still at `address` (after an endbr64).
bool is_patched(std::uint64_t address);

}  // namespace profshim::code_patch
