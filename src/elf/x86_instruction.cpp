// Hand-written: Debian has no static libzydis, and static capstone adds 6 MB.
#include <cstring>

#include "profshim/elf.h"

namespace profshim::elf {
namespace {

// One letter per opcode says what follows the opcode:
// . nothing   M ModRM   b imm8   w imm16   z imm16/32   v imm16/32/64   e imm16+imm8   a address-sized   m ModRM+imm8
// y ModRM+imm16/32   j rel8   J rel32   F/G group 3 (imm8 / imm16/32 for /0 and /1)   X not an instruction   P prefix
constexpr char kOneByte[257] =
    "MMMMbzXXMMMMbzXP"   // 00
    "MMMMbzXXMMMMbzXX"   // 10
    "MMMMbzPXMMMMbzPX"   // 20
    "MMMMbzPXMMMMbzPX"   // 30
    "PPPPPPPPPPPPPPPP"   // 40
    "................"   // 50
    "XXPMPPPPzybm...."   // 60
    "jjjjjjjjjjjjjjjj"   // 70
    "myXmMMMMMMMMMMMM"   // 80
    "..........X....."   // 90
    "aaaa....bz......"   // a0
    "bbbbbbbbvvvvvvvv"   // b0
    "mmw.PPmye.w..bX."   // c0
    "MMMMXXX.MMMMMMMM"   // d0
    "jjjjbbbbJJXj...."   // e0
    "P.PP..FG......MM";  // f0
constexpr char kTwoByte[257] =
    "MMMMX.....X.XM.m"   // 00
    "MMMMMMMMMMMMMMMM"   // 10
    "RRRRXXXXMMMMMMMM"   // 20  R: mov cr/dr, always register to register
    "......X.PXPXXXXX"   // 30
    "MMMMMMMMMMMMMMMM"   // 40
    "MMMMMMMMMMMMMMMM"   // 50
    "MMMMMMMMMMMMMMMM"   // 60
    "mmmmMMM.SMXXMMMM"   // 70  S: vmread, or extrq/insertq with two immediate bytes
    "JJJJJJJJJJJJJJJJ"   // 80
    "MMMMMMMMMMMMMMMM"   // 90
    "...MmMMM...MmMMM"   // a0
    "MMMMMMMMMMmMMMMM"   // b0
    "MMmMmmmM........"   // c0
    "MMMMMMMMMMMMMMMM"   // d0
    "MMMMMMMMMMMMMMMM"   // e0
    "MMMMMMMMMMMMMMMM";  // f0

class Decoder {
 public:
  Decoder(const std::uint8_t* code, std::size_t available, Instruction& out)
      : code_(code), limit_(available < 15 ? available : 15), out_(out) {}

  bool run() {
    out_ = Instruction{};
    if (!prefixes()) return false;
    out_.opcode_at = static_cast<std::uint8_t>(at_);
    std::uint8_t opcode;
    if (!take(opcode)) return false;
    bool good;
    if (opcode == 0xc5 || opcode == 0xc4)
      good = vex(opcode);
    else if (opcode == 0x62)
      good = evex();
    else if (opcode == 0x8f && at_ < limit_ && (code_[at_] & 0x1f) >= 8)
      good = xop();
    else if (opcode == 0x0f)
      good = two_byte();
    else
      good = one_byte(opcode);
    if (!good || at_ > limit_) return false;
    out_.length = static_cast<std::uint8_t>(at_);
    return true;
  }

 private:
  bool take(std::uint8_t& byte) {
    if (at_ >= limit_) return false;
    byte = code_[at_++];
    return true;
  }
  bool skip(std::size_t bytes) {
    at_ += bytes;
    return at_ <= limit_;
  }

  bool prefixes() {
    while (at_ < limit_) {
      const std::uint8_t byte = code_[at_];
      if ((byte & 0xf0) == 0x40) {
        rex_ = byte;
        ++at_;
        // A legacy prefix cancels an earlier REX prefix.
        if (at_ < limit_ && is_legacy_prefix(code_[at_])) {
          rex_ = 0;
          continue;
        }
        return at_ < limit_ && (code_[at_] & 0xf0) != 0x40;
      }
      if (!is_legacy_prefix(byte)) return true;
      if (byte == 0x66) operand16_ = true;
      if (byte == 0x67) address32_ = true;
      if (byte == 0xf2 || byte == 0xf3) repeat_ = byte;
      ++at_;
    }
    return false;
  }
  static bool is_legacy_prefix(std::uint8_t byte) {
    switch (byte) {
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x64:
      case 0x65:
      case 0x66:
      case 0x67:
      case 0xf0:
      case 0xf2:
      case 0xf3:
        return true;
      default:
        return false;
    }
  }

  bool modrm(std::uint8_t& byte) {
    out_.modrm_at = static_cast<std::uint8_t>(at_);
    if (!take(byte)) return false;
    const int mod = byte >> 6, rm = byte & 7;
    if (mod == 3) return true;
    std::size_t displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    if (rm == 4) {
      std::uint8_t sib;
      if (!take(sib)) return false;
      const int base = sib & 7;
      if (base == 5 && mod == 0) displacement = 4;
      if (base == 4 && (rex_ & 1) == 0) out_.uses_rsp_operand = true;
    } else if (rm == 5 && mod == 0) {
      out_.rip_relative = true;
      out_.displacement_at = static_cast<std::uint8_t>(at_);
      displacement = 4;
    }
    return skip(displacement);
  }
  bool modrm() {
    std::uint8_t byte;
    return modrm(byte);
  }

  std::size_t operand_bytes() const { return operand16_ && (rex_ & 8) == 0 ? 2 : 4; }

  bool relative(std::size_t bytes, Instruction::Kind kind) {
    // With an operand-size prefix, Intel reads a 32-bit offset, AMD a 16-bit offset.
    if (operand16_ && (rex_ & 8) == 0) return false;
    out_.kind = kind;
    out_.relative_at = static_cast<std::uint8_t>(at_);
    out_.relative_size = static_cast<std::uint8_t>(bytes);
    return skip(bytes);
  }

  bool one_byte(std::uint8_t opcode) {
    std::uint8_t m;
    switch (kOneByte[opcode]) {
      case '.':
        if (opcode == 0xc3 || opcode == 0xcb || opcode == 0xcf || opcode == 0xf4)
          out_.kind = Instruction::Kind::kReturn;
        return true;
      case 'M':
        if (!modrm(m)) return false;
        if (opcode == 0xff) {
          const int what = m >> 3 & 7;
          if (what == 2 || what == 3) out_.kind = Instruction::Kind::kIndirectCall;
          if (what == 4 || what == 5) out_.kind = Instruction::Kind::kIndirectJump;
          return what != 7;
        }
        return opcode != 0xfe || (m >> 3 & 7) <= 1;
      case 'b':
        return skip(1);
      case 'w':
        out_.kind = Instruction::Kind::kReturn;  // ret imm16
        return skip(2);
      case 'z':
        return skip(operand_bytes());
      case 'v':
        return skip((rex_ & 8) != 0 ? 8 : operand_bytes());
      case 'e':
        return skip(3);
      case 'a':
        return skip(address32_ ? 4 : 8);
      case 'm':
        return modrm() && skip(1);
      case 'y':
        if (opcode == 0xc7 && at_ < limit_ && code_[at_] == 0xf8) {
          ++at_;
          return relative(4, Instruction::Kind::kTransaction);
        }
        return modrm() && skip(operand_bytes());
      case 'j':
        return relative(1, opcode == 0xeb                     ? Instruction::Kind::kJump
                           : opcode >= 0xe0 && opcode <= 0xe3 ? Instruction::Kind::kLoop
                                                              : Instruction::Kind::kConditional);
      case 'J':
        return relative(4, opcode == 0xe8 ? Instruction::Kind::kCall : Instruction::Kind::kJump);
      case 'F':
        return modrm(m) && ((m >> 3 & 7) > 1 || skip(1));
      case 'G':
        return modrm(m) && ((m >> 3 & 7) > 1 || skip(operand_bytes()));
      default:
        return false;
    }
  }

  bool two_byte() {
    std::uint8_t opcode;
    if (!take(opcode)) return false;
    if (opcode == 0x38) return skip(1) && modrm();
    if (opcode == 0x3a) return skip(1) && modrm() && skip(1);
    switch (kTwoByte[opcode]) {
      case '.':
        if (opcode == 0x0b) out_.kind = Instruction::Kind::kReturn;
        return true;
      case 'M':
        return modrm();
      case 'm':
        return modrm() && skip(1);
      case 'R':
        return skip(1);
      case 'S':
        return modrm() && (operand16_ || repeat_ == 0xf2 ? skip(2) : true);
      case 'J':
        return relative(4, Instruction::Kind::kConditional);
      default:
        return false;
    }
  }

  bool vector_opcode(int map) {
    std::uint8_t opcode;
    if (!take(opcode)) return false;
    if (map == 1) {
      if (opcode == 0x77) return true;
      const bool immediate = (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
      return modrm() && (!immediate || skip(1));
    }
    if (map == 2 || map == 5 || map == 6) return modrm();
    return map == 3 && modrm() && skip(1);
  }
  bool vex(std::uint8_t opcode) {
    std::uint8_t first, second;
    if (rex_ != 0 || !take(first)) return false;
    if (opcode == 0xc5) return vector_opcode(1);
    rex_ = (first & 0x20) == 0 ? 0x41 : 0x40;  // bit B, inverted
    const int map = first & 0x1f;
    return take(second) && map <= 3 && vector_opcode(map);
  }
  bool evex() {
    std::uint8_t p0, p1, p2;
    if (rex_ != 0 || !take(p0) || !take(p1) || !take(p2)) return false;
    if ((p0 & 8) != 0 || (p1 & 4) == 0) return false;
    rex_ = (p0 & 0x20) == 0 ? 0x41 : 0x40;
    return vector_opcode(p0 & 7);
  }
  bool xop() {
    std::uint8_t first;
    if (!take(first) || !skip(2)) return false;
    rex_ = (first & 0x20) == 0 ? 0x41 : 0x40;
    switch (first & 0x1f) {
      case 8:
        return modrm() && skip(1);
      case 9:
        return modrm();
      case 10:
        return modrm() && skip(4);
      default:
        return false;
    }
  }

  const std::uint8_t* code_;
  std::size_t limit_;
  std::size_t at_ = 0;
  Instruction& out_;
  std::uint8_t rex_ = 0, repeat_ = 0;
  bool operand16_ = false, address32_ = false;
};

}  // namespace

bool decode(const std::uint8_t* code, std::size_t available, Instruction& out) {
  return Decoder(code, available, out).run();
}

std::uint64_t branch_target(const std::uint8_t* code, const Instruction& instruction, std::uint64_t address) {
  if (instruction.relative_size == 0) return 0;
  std::int64_t offset;
  if (instruction.relative_size == 1) {
    offset = static_cast<std::int8_t>(code[instruction.relative_at]);
  } else {
    std::int32_t wide;
    std::memcpy(&wide, code + instruction.relative_at, sizeof wide);
    offset = wide;
  }
  return address + instruction.length + static_cast<std::uint64_t>(offset);
}

}  // namespace profshim::elf
