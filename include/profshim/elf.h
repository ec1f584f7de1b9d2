// ELF files and x86-64 code: which functions a pattern of steps.source = "symbol" means, and which of them can get a
// jump at their entry. Everything here is a pure function of bytes: the shim asks about loaded modules, `profshim
// doctor` about files. Nothing here changes a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::elf {

// ---- instructions
// ----------------------------------------------------------------------------------------------------

/// What has to be known of an instruction to move it elsewhere.
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
    kReturn,        // ret, iret, ud2, hlt: does not go on
  };
  std::uint8_t length = 0;
  Kind kind = Kind::kPlain;
  bool rip_relative = false;
  std::uint8_t displacement_at = 0;  // where the 32-bit displacement of a RIP-relative operand lies
  std::uint8_t relative_at = 0;      // where the offset of a relative branch lies
  std::uint8_t relative_size = 0;    // 1 or 4; 0 = no relative branch
  std::uint8_t opcode_at = 0;        // first byte after the prefixes
  std::uint8_t modrm_at = 0;         // 0 = none
  bool uses_rsp_operand = false;     // a memory operand addressed through rsp
};

/// Decodes one 64-bit-mode instruction of at most `available` bytes. False when it is none, or one whose length depends
/// on the processor's maker (a 16-bit branch). Verified against objdump over whole libraries.
bool decode(const std::uint8_t* code, std::size_t available, Instruction& out);

/// Where a relative branch at `address` goes; 0 when it is none.
std::uint64_t branch_target(const std::uint8_t* code, const Instruction& instruction, std::uint64_t address);

// ---- entries that can be patched
// -------------------------------------------------------------------------------------

/// Size of the jumps that a patch consists of: jmp rel32, and jmp [rip+0] followed by the address.
inline constexpr std::size_t kNearJump = 5, kFarJump = 14;

/// A stretch of code: the bytes and where they run.
struct Code {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint64_t address = 0;
};

/// Whether the entry of a function can be replaced by a jump of `jump_bytes`, and how much has to move.
struct Entry {
  std::string refusal;        // "" = it can be patched
  std::size_t patch_at = 0;   // 4 behind an endbr64, which stays where it is; else 0
  std::size_t displaced = 0;  // whole instructions from patch_at on, at least jump_bytes
};

/// Decodes the whole function (`parts`: its outlined cold parts) and refuses what could go wrong: too short,
/// undecodable, a branch into the bytes that move, a call that is not the last of them.
Entry examine_entry(const Code& function, const std::vector<Code>& parts, std::size_t jump_bytes);

/// The displaced instructions, made to run at `at` and to go on behind them in the function; absolute jumps throughout.
/// False and a reason when an operand is out of reach from there.
bool relocate_entry(const Code& function, const Entry& entry, std::uint64_t at, std::vector<std::uint8_t>& out,
                    std::string& refusal);

// ---- symbols
// ---------------------------------------------------------------------------------------------------------

struct Function {
  std::string name;       // as in the file
  std::uint64_t value;    // address relative to the load bias
  std::uint64_t size;     // 0 = the file does not say
  std::uint64_t file_at;  // where its bytes lie in the file
  bool ifunc = false;     // `value` is the resolver
  bool exported = false;  // in .dynsym
};

/// The same while the file is open.
struct Symbol {
  std::string_view name;
  std::uint64_t value, size, file_at;
  bool ifunc, exported;
};

/// The functions that an ELF file defines, of .dynsym and .symtab.
class File {
 public:
  /// Reads the file. False and a reason when it is no 64-bit little-endian ELF file; never throws, never trusts a
  /// number.
  bool open(const std::string& path, std::string& why_not);
  /// The same without functions(): of a large library those take a hundred megabytes.
  bool map(const std::string& path, std::string& why_not);
  void for_each_function(const std::function<void(const Symbol&)>& visit) const;
  ~File();
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool x86_64() const { return machine_ == 62; }
  bool stripped() const { return stripped_; }  // no .symtab
  const std::vector<Function>& functions() const { return functions_; }
  /// The function's bytes in the file; empty when they are not in it.
  Code code_of(const Function& function) const;

 private:
  void read_table(const void* section, bool exported, const std::function<void(const Symbol&)>& visit) const;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint16_t machine_ = 0;
  bool stripped_ = true;
  std::vector<Function> functions_;
};

/// The functions in which these places of a file lie, mangled, in the same order; "" where none is known. `places`:
/// offsets in the file, in ascending order. Reads the symbols once and keeps none.
std::vector<std::string> functions_at(const std::string& path, const std::vector<std::uint64_t>& places);

/// The readable form of a mangled name; the name itself when it is not mangled, or when its readable form is longer
/// than anybody reads (64 KiB).
std::string demangled(const std::string& name);

/// A pattern of the spec: a name or a glob, matched against the mangled name, the demangled one, and that without its
/// parameter list ("Solver::step" finds "Solver::step(int)").
class SymbolPattern {
 public:
  explicit SymbolPattern(std::string pattern);
  bool matches(const std::string& name) const;
  bool exact() const { return exact_; }  // no glob in it
  const std::string& text() const { return pattern_; }

 private:
  std::string pattern_;
  std::string literal_;  // longest run of identifier characters: must stand in the mangled name too
  bool exact_;
};

/// The outlined parts ("step.cold") of a function in a list.
std::vector<const Function*> cold_parts(const std::vector<Function>& functions, const Function& of);

/// One match of a pattern in a file, for `profshim doctor` and the log.
struct Candidate {
  std::string name;    // demangled
  std::string module;  // path
  std::string reason;  // why it cannot be hooked; "" when it can
  bool hookable = false;
};
/// Every function of the file that the pattern matches. A file that cannot be read is one candidate with the reason.
std::vector<Candidate> examine_file(const std::string& path, const std::string& pattern);

/// The file's function names nearest to a name that was not found, for a hint; at most three.
std::vector<std::string> nearest_names(const std::vector<std::string>& paths, const std::string& pattern);

}  // namespace profshim::elf
