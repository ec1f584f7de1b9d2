#include <cstdio>
#include <cstring>

#include "profshim/elf.h"

namespace profshim::elf {
namespace {

using Kind = Instruction::Kind;

std::string at_offset(const char* what, std::uint64_t offset) {
  char text[160];
  std::snprintf(text, sizeof text, "%s at +%llu", what, static_cast<unsigned long long>(offset));
  return text;
}

/// Returns why the instructions at [from, to) cannot be moved, or "". Sets `indirect_jump` if `code` has one.
std::string branches_into(const Code& code, std::uint64_t from, std::uint64_t to, bool& indirect_jump) {
  std::size_t at = 0;
  while (at < code.size) {
    Instruction instruction;
    if (!decode(code.bytes + at, code.size - at, instruction)) {
      return at_offset("an instruction cannot be decoded", at);
    }
    if (instruction.relative_size != 0 && instruction.kind != Kind::kCall) {
      const std::uint64_t target = branch_target(code.bytes + at, instruction, code.address + at);
      if (target >= from && target < to) return at_offset("a branch to the first bytes of the function,", at);
    } else if (instruction.kind == Kind::kCall) {
      const std::uint64_t target = branch_target(code.bytes + at, instruction, code.address + at);
      if (target > from && target < to) return at_offset("a call into the first bytes of the function,", at);
    }
    indirect_jump |= instruction.kind == Kind::kIndirectJump;
    at += instruction.length;
  }
  return "";
}

bool has_endbr64(const Code& code) {
  static constexpr std::uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  return code.size >= 4 && std::memcmp(code.bytes, kEndbr64, 4) == 0;
}

/// True for push and sub rsp.
bool builds_frame(const std::uint8_t* code, const Instruction& instruction) {
  const std::uint8_t opcode = code[instruction.opcode_at];
  if (opcode >= 0x50 && opcode <= 0x57) return true;
  return (opcode == 0x83 || opcode == 0x81) && code[instruction.modrm_at] == 0xec;
}

bool ends_function(Kind kind) { return kind == Kind::kReturn || kind == Kind::kJump || kind == Kind::kIndirectJump; }

const char* refusal_of(const Instruction& instruction, bool is_last) {
  if (ends_function(instruction.kind)) return is_last ? nullptr : "the function can end within its first bytes,";
  switch (instruction.kind) {
    case Kind::kLoop:
      return "a LOOP or JRCXZ instruction among the first bytes,";
    case Kind::kTransaction:
      return "an XBEGIN (TSX) among the first bytes,";
    case Kind::kCall:
      return is_last ? nullptr : "a call that returns into the first bytes,";
    case Kind::kIndirectCall:
      if (!is_last) return "a call that returns into the first bytes,";
      return instruction.uses_rsp_operand ? "a call through the stack among the first bytes," : nullptr;
    default:
      return nullptr;
  }
}

class Writer {
 public:
  explicit Writer(std::vector<std::uint8_t>& out) : out_(out) {}
  void bytes(const std::uint8_t* data, std::size_t size) { out_.insert(out_.end(), data, data + size); }
  void bytes(std::initializer_list<std::uint8_t> data) { out_.insert(out_.end(), data); }
  void address(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) out_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  /// Emits: jmp [rip+0]; .quad target
  void jump(std::uint64_t target) {
    bytes({0xff, 0x25, 0, 0, 0, 0});
    address(target);
  }
  /// Emits a 64-bit push that changes no register: push [rip+2]; jmp over; .quad value
  void push(std::uint64_t value) {
    bytes({0xff, 0x35, 2, 0, 0, 0, 0xeb, 8});
    address(value);
  }

 private:
  std::vector<std::uint8_t>& out_;
};

/// Keeps the target of a RIP-relative operand. Returns false if the target is out of reach.
bool copy_adjusted(const std::uint8_t* code, const Instruction& instruction, std::uint64_t from, std::uint64_t at,
                   std::vector<std::uint8_t>& out) {
  const std::size_t start = out.size();
  out.insert(out.end(), code, code + instruction.length);
  if (!instruction.rip_relative) return true;
  std::int32_t displacement;
  std::memcpy(&displacement, code + instruction.displacement_at, sizeof displacement);
  const std::int64_t moved = static_cast<std::int64_t>(from - at) + displacement;
  if (moved != static_cast<std::int32_t>(moved)) return false;
  displacement = static_cast<std::int32_t>(moved);
  std::memcpy(out.data() + start + instruction.displacement_at, &displacement, sizeof displacement);
  return true;
}

}  // namespace

Entry examine_entry(const Code& function, const std::vector<Code>& parts, std::size_t jump_bytes) {
  Entry entry;
  entry.patch_at = has_endbr64(function) ? 4 : 0;
  if (function.size < entry.patch_at + jump_bytes) {
    char text[120];
    std::snprintf(text, sizeof text, "the function has %zu bytes, profshim's jump needs %zu", function.size,
                  entry.patch_at + jump_bytes);
    entry.refusal = text;
    return entry;
  }
  bool frame = false, goes_on = true;
  std::size_t at = entry.patch_at;
  while (at < entry.patch_at + jump_bytes) {
    Instruction instruction;
    if (!decode(function.bytes + at, function.size - at, instruction)) {
      entry.refusal = at_offset("an instruction cannot be decoded", at);
      return entry;
    }
    const bool is_last = at + instruction.length >= entry.patch_at + jump_bytes;
    goes_on = goes_on && !ends_function(instruction.kind);
    const char* const refusal = refusal_of(instruction, is_last);
    if (refusal != nullptr) {
      entry.refusal = at_offset(refusal, at);
      return entry;
    }
    frame |= builds_frame(function.bytes + at, instruction);
    at += instruction.length;
  }
  entry.displaced = at - entry.patch_at;

  const std::uint64_t from = function.address + entry.patch_at;
  bool indirect_jump = false;
  entry.refusal = branches_into(function, from, from + entry.displaced, indirect_jump);
  for (const Code& part : parts) {
    if (entry.refusal.empty()) entry.refusal = branches_into(part, from, from + entry.displaced, indirect_jump);
  }
  // The targets of an indirect jump are unknown, but no loop goes back to an entry that builds the stack frame.
  if (entry.refusal.empty() && indirect_jump && !frame && goes_on) {
    entry.refusal = "an indirect jump could lead back to the first bytes of the function";
  }
  return entry;
}

bool relocate_entry(const Code& function, const Entry& entry, std::uint64_t at, std::vector<std::uint8_t>& out,
                    std::string& refusal) {
  Writer writer(out);
  const std::size_t base = out.size();
  const std::size_t end = entry.patch_at + entry.displaced;
  for (std::size_t offset = entry.patch_at; offset < end;) {
    const std::uint8_t* const code = function.bytes + offset;
    Instruction instruction;
    if (!decode(code, function.size - offset, instruction)) {
      refusal = at_offset("an instruction cannot be decoded", offset);
      return false;
    }
    const std::uint64_t from = function.address + offset;
    const std::uint64_t next = from + instruction.length;
    const std::uint64_t target = branch_target(code, instruction, from);
    bool reachable = true;
    switch (instruction.kind) {
      case Kind::kJump:
        writer.jump(target);
        break;
      case Kind::kConditional: {
        // The inverted condition skips the jump of 14 bytes. Both forms (7x rel8, 0f 8x rel32) hold the condition in
        // the low 4 bits of the last opcode byte.
        const std::uint8_t last_opcode = code[instruction.relative_at - 1];
        writer.bytes({static_cast<std::uint8_t>(0x70 | ((last_opcode & 0xf) ^ 1)), 14});
        writer.jump(target);
        break;
      }
      case Kind::kCall:
        // Unwinders need a return address inside the function.
        writer.push(next);
        writer.jump(target);
        break;
      case Kind::kIndirectCall: {
        if ((code[instruction.modrm_at] & 0x38) == 0x18) {
          refusal = at_offset("a far call", offset);
          return false;
        }
        writer.push(next);
        const std::size_t start = out.size();
        reachable = copy_adjusted(code, instruction, from, at + (start - base), out);
        out[start + instruction.modrm_at] = static_cast<std::uint8_t>((code[instruction.modrm_at] & ~0x38) | 0x20);
        break;
      }
      default:
        reachable = copy_adjusted(code, instruction, from, at + (out.size() - base), out);
        break;
    }
    if (!reachable) {
      refusal = at_offset("an operand out of reach from any free memory,", offset);
      return false;
    }
    offset += instruction.length;
  }
  writer.jump(function.address + end);
  return true;
}

}  // namespace profshim::elf
