// Finds functions in ELF files, for steps.source = "symbol" and stack frames. Decides whether a jump can replace a
// function's x86-64 entry. Thread-safe; not async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::elf {

/// `..._at`: byte offset from the start of the instruction.
struct Instruction {
  enum class Kind : std::uint8_t {
    kPlain,
    kJump,         // jmp rel8/rel32
    kConditional,  // jcc rel8/rel32
    kLoop,         // loop, loope, loopne, jrcxz: rel8 only
    kCall,         // call rel32
    kIndirectJump,
    kIndirectCall,
    kTransaction,  // xbegin rel32
    kReturn,       // ret, iret, ud2, hlt: leaves the function
  };
  std::uint8_t length = 0;
  Kind kind = Kind::kPlain;
  bool rip_relative = false;
  std::uint8_t displacement_at = 0;  // 32-bit displacement of a RIP-relative operand
  std::uint8_t relative_at = 0;      // offset field of a relative branch
  std::uint8_t relative_size = 0;    // bytes of that field: 1 or 4; 0 = no relative branch
  std::uint8_t opcode_at = 0;
  std::uint8_t modrm_at = 0;      // 0 = none
  bool uses_rsp_operand = false;  // memory operand addressed through rsp
};

/// Returns false if the instruction is invalid, truncated, or ambiguous: Intel and AMD differ in the length of branches
/// with a 16-bit offset.
bool decode(const std::uint8_t* code, std::size_t available, Instruction& out);

/// Returns 0 unless the instruction is a relative branch.
std::uint64_t branch_target(const std::uint8_t* code, const Instruction& instruction, std::uint64_t address);

/// Bytes of jmp rel32, and of jmp [rip+0] with the address behind it.
inline constexpr std::size_t kNearJump = 5, kFarJump = 14;

/// Machine code that runs at `address`.
struct Code {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint64_t address = 0;
};

struct Entry {
  std::string refusal;        // "" = the entry can be patched
  std::size_t patch_at = 0;   // offset of the jump: 4 behind an endbr64, else 0
  std::size_t displaced = 0;  // bytes of the replaced instructions
};

/// Decides whether a jump of `jump_bytes` can replace the entry of a function. `parts`: its outlined cold code.
Entry examine_entry(const Code& function, const std::vector<Code>& parts, std::size_t jump_bytes);

/// Appends the displaced instructions, adjusted to run at `at`, and a jump back. Returns false and sets `refusal` if
/// they cannot run there.
bool relocate_entry(const Code& function, const Entry& entry, std::uint64_t at, std::vector<std::uint8_t>& out,
                    std::string& refusal);

struct Function {
  std::string name;     // as in the file
  std::uint64_t value;  // address without the load bias
  std::uint64_t size;   // 0 = unknown
  std::uint64_t file_offset;
  bool ifunc = false;     // `value` is the address of the resolver
  bool exported = false;  // in .dynsym
};

/// A Function whose name is valid while the File is open.
struct Symbol {
  std::string_view name;
  std::uint64_t value, size, file_offset;
  bool ifunc, exported;
};

/// Functions in .dynsym and .symtab of a file, which may be damaged or hostile.
class File {
 public:
  /// Accepts only 64-bit little-endian ELF files with section headers.
  bool open(const std::string& path, std::string& error);
  /// As open(), but leaves functions() empty, which saves 100 MB for a large library.
  bool map(const std::string& path, std::string& error);
  void for_each_function(const std::function<void(const Symbol&)>& visit) const;
  ~File();
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool x86_64() const { return machine_ == 62; }
  bool stripped() const { return stripped_; }  // no .symtab
  const std::vector<Function>& functions() const { return functions_; }
  /// Empty if `function` is outside the file.
  Code code_of(const Function& function) const;

 private:
  void read_table(const void* section, bool exported, const std::function<void(const Symbol&)>& visit) const;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint16_t machine_ = 0;
  bool stripped_ = true;
  std::vector<Function> functions_;
};

/// Returns the mangled name of the function at each file offset; "" = unknown. `offsets` are ascending.
std::vector<std::string> functions_at(const std::string& path, const std::vector<std::uint64_t>& offsets);

/// Returns `name` unchanged if it is not mangled, or if the result exceeds 64 KiB.
std::string demangled(const std::string& name);

/// A name or glob. It matches mangled and demangled names, with or without parameters.
class SymbolPattern {
 public:
  explicit SymbolPattern(std::string pattern);
  bool matches(const std::string& name) const;
  bool exact() const { return exact_; }
  const std::string& text() const { return pattern_; }

 private:
  std::string pattern_;
  std::string literal_;
  bool exact_;
};

/// Returns functions such as "step.cold" for "step".
std::vector<const Function*> cold_parts(const std::vector<Function>& functions, const Function& function);

struct Candidate {
  std::string name;    // demangled
  std::string module;  // path
  std::string reason;  // why the function cannot be hooked
  bool hookable = false;
};
/// Returns the functions that match `pattern`; for an unreadable file, one candidate with the reason.
std::vector<Candidate> examine_file(const std::string& path, const std::string& pattern);

/// Returns at most three function names similar to `pattern`.
std::vector<std::string> nearest_names(const std::vector<std::string>& paths, const std::string& pattern);

}  // namespace profshim::elf
