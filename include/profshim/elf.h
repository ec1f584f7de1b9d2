// ELF symbols and x86-64 code: finds the functions that a pattern of steps.source = "symbol" matches, and decides
// whether their entry can be replaced by a jump. The library asks about loaded modules, `profshim doctor` about files.
// Nothing here changes a process. All functions may be called from any thread; none is async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::elf {

// ---- instructions

/// The properties of an instruction that matter when it is moved elsewhere. Positions are byte offsets from its start.
struct Instruction {
  enum class Kind : std::uint8_t {
    kPlain,
    kJump,          // jmp rel8/rel32
    kConditional,   // jcc rel8/rel32
    kLoop,          // loop, loope, loopne, jrcxz: rel8 only
    kCall,          // call rel32
    kIndirectJump,  // jmp r/m
    kIndirectCall,  // call r/m
    kTransaction,   // xbegin rel32
    kReturn,        // ret, iret, ud2, hlt: execution does not continue behind it
  };
  std::uint8_t length = 0;
  Kind kind = Kind::kPlain;
  bool rip_relative = false;
  std::uint8_t displacement_at = 0;  // 32-bit displacement of a RIP-relative operand
  std::uint8_t relative_at = 0;      // offset field of a relative branch
  std::uint8_t relative_size = 0;    // size of that field: 1 or 4; 0 = no relative branch
  std::uint8_t opcode_at = 0;        // first byte after the prefixes
  std::uint8_t modrm_at = 0;         // 0 = none
  bool uses_rsp_operand = false;     // has a memory operand addressed through rsp
};

/// Decodes one instruction in 64-bit mode from at most `available` bytes. Returns false if it is invalid or truncated,
/// or if its length differs between Intel and AMD (branches with a 16-bit offset). Never allocates.
bool decode(const std::uint8_t* code, std::size_t available, Instruction& out);

/// Returns the target of a relative branch that runs at `address`; 0 if the instruction is no relative branch.
std::uint64_t branch_target(const std::uint8_t* code, const Instruction& instruction, std::uint64_t address);

// ---- patching a function's entry

/// Sizes in bytes of the two jumps used as a patch: jmp rel32; jmp [rip+0] followed by the address.
inline constexpr std::size_t kNearJump = 5, kFarJump = 14;

/// A range of code: its bytes and the address at which they run.
struct Code {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint64_t address = 0;
};

/// The result of examine_entry().
struct Entry {
  std::string refusal;        // the reason why it cannot be patched; "" = it can
  std::size_t patch_at = 0;   // offset of the patch: 4 if the function begins with endbr64, which stays; else 0
  std::size_t displaced = 0;  // bytes of whole instructions from patch_at on, at least jump_bytes
};

/// Checks whether the entry of a function can be replaced by a jump of `jump_bytes`. Decodes the whole function and its
/// outlined cold parts (`parts`). Refuses a function that is too short or cannot be decoded, a branch into the
/// displaced bytes, and a call among them that is not their last instruction.
Entry examine_entry(const Code& function, const std::vector<Code>& parts, std::size_t jump_bytes);

/// Appends the displaced instructions to `out`, adjusted to run at address `at`, and a jump back into the function. All
/// jumps are absolute. Returns false and sets `refusal` if an operand is out of reach from `at`.
bool relocate_entry(const Code& function, const Entry& entry, std::uint64_t at, std::vector<std::uint8_t>& out,
                    std::string& refusal);

// ---- symbols

struct Function {
  std::string name;           // as in the file
  std::uint64_t value;        // address relative to the load bias
  std::uint64_t size;         // in bytes; 0 = the symbol has no size
  std::uint64_t file_offset;  // offset of its bytes in the file
  bool ifunc = false;         // `value` is the resolver
  bool exported = false;      // in .dynsym
};

/// A Function whose name is valid while the File is open.
struct Symbol {
  std::string_view name;
  std::uint64_t value, size, file_offset;
  bool ifunc, exported;
};

/// The functions that an ELF file defines in .dynsym and .symtab. The file may be damaged or hostile: every offset and
/// size in it is checked.
class File {
 public:
  /// Maps the file and reads its functions. Returns false and sets `error` if it is no 64-bit little-endian ELF file.
  bool open(const std::string& path, std::string& error);
  /// Maps the file without filling functions(), which take a hundred megabytes for a large library.
  bool map(const std::string& path, std::string& error);
  void for_each_function(const std::function<void(const Symbol&)>& visit) const;
  ~File();
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool x86_64() const { return machine_ == 62; }
  bool stripped() const { return stripped_; }  // no .symtab
  const std::vector<Function>& functions() const { return functions_; }
  /// Returns the function's bytes in the file; empty if they are outside the file.
  Code code_of(const Function& function) const;

 private:
  void read_table(const void* section, bool exported, const std::function<void(const Symbol&)>& visit) const;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint16_t machine_ = 0;
  bool stripped_ = true;
  std::vector<Function> functions_;
};

/// Returns the mangled names of the functions that contain these file offsets, in the same order; "" for an offset in
/// no known function. `offsets` is sorted ascending. Reads the symbols once and keeps none.
std::vector<std::string> functions_at(const std::string& path, const std::vector<std::uint64_t>& offsets);

/// Returns the demangled name. Returns `name` itself if it is not mangled, or if the demangled form is longer than
/// 64 KiB.
std::string demangled(const std::string& name);

/// A steps.pattern: a name or a glob. It is matched against the mangled name, the demangled name, and the demangled
/// name without its parameter list ("Solver::step" matches "Solver::step(int)").
class SymbolPattern {
 public:
  explicit SymbolPattern(std::string pattern);
  bool matches(const std::string& name) const;
  bool exact() const { return exact_; }  // no glob in it
  const std::string& text() const { return pattern_; }

 private:
  std::string pattern_;
  std::string literal_;  // longest run of identifier characters in the pattern: the mangled name must contain it too
  bool exact_;
};

/// Returns the outlined parts ("step.cold") of `function`.
std::vector<const Function*> cold_parts(const std::vector<Function>& functions, const Function& function);

/// A function that a pattern matches in a file.
struct Candidate {
  std::string name;    // demangled
  std::string module;  // path
  std::string reason;  // the reason why it cannot be hooked; "" = it can
  bool hookable = false;
};
/// Returns every function of the file that the pattern matches. If the file cannot be read, returns one candidate with
/// the reason.
std::vector<Candidate> examine_file(const std::string& path, const std::string& pattern);

/// Returns at most three function names of these files that are similar to `pattern`, as a hint.
std::vector<std::string> nearest_names(const std::vector<std::string>& paths, const std::string& pattern);

}  // namespace profshim::elf
