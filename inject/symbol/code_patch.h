// Replacing the entry of a function in this process by a jump: memory near it, and a write that no thread sees half
// done.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/elf.h"

namespace profshim::code_patch {

/// Lets calls of `function` (its bytes in this process) run `stub_target` first, a routine that finds `index` above its
/// return address and keeps all registers. False and a plain reason when that cannot be done; nothing is changed then.
/// A thread that is inside the first few bytes of the function in this very moment would be lost; patching happens at
/// activation and right after a library is loaded, when that thread would have to be just at its first instruction.
bool install(const elf::Code& function, const elf::File& file, const elf::Function& symbol, std::uint64_t bias,
             const void* stub_target, std::uint32_t index, std::string& refusal);

/// Whether `address` begins with a jump (behind an endbr64): a patch of ours is still in place.
bool is_patched(std::uint64_t address);

}  // namespace profshim::code_patch
