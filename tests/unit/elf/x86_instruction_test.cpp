#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "profshim/elf.h"

namespace profshim::elf {
namespace {

using Kind = Instruction::Kind;

struct Line {
  std::uint64_t address;
  std::vector<std::uint8_t> bytes;
  std::string text;
};

/// Parses "   26a0:\tf3 0f 1e fa          \tendbr64".
bool parse(const char* line, Line& out) {
  char* rest = nullptr;
  out.address = std::strtoull(line, &rest, 16);
  if (rest == line || *rest != ':' || rest[1] != '\t') return false;
  const char* at = rest + 2;
  out.bytes.clear();
  while (std::isxdigit(static_cast<unsigned char>(at[0])) && std::isxdigit(static_cast<unsigned char>(at[1]))) {
    out.bytes.push_back(static_cast<std::uint8_t>(std::strtoul(std::string(at, 2).c_str(), nullptr, 16)));
    at += 2;
    while (*at == ' ') ++at;
  }
  if (*at != '\t') return false;
  out.text = at + 1;
  return !out.bytes.empty();
}

/// Returns true if the length may differ from ours. Newer binutils print "udb" (opcode d6). Processors disagree on the
/// length of a branch with a 16-bit offset.
bool is_objdumps_own(const Line& line) {
  const std::string& text = line.text;
  if (text.find("(bad)") != std::string::npos || text.find(".byte") != std::string::npos) return true;
  if (text.starts_with("udb")) return true;
  if (line.bytes[0] == 0x9b) return true;  // objdump joins fwait to the next instruction
  const std::string prefix = "(repz|repnz|data16|addr32|lock|[cdefgs]s|bnd|notrack|xacquire|xrelease|rex[.WRXB]*)";
  static const std::regex prefixes_only("(" + prefix + " *)+\n");
  static const std::regex relative_branch("(" + prefix + " )*(j|loop|call|xbegin).*\n");
  static const std::regex rex_before_vex("rex[.WRXB]* v.*\n");  // refused by processors
  const bool offset16 = text.find("data16") != std::string::npos || text.find("jmpw") != std::string::npos ||
                        text.find("callw") != std::string::npos;
  return std::regex_match(text, prefixes_only) || std::regex_match(text, rex_before_vex) ||
         (offset16 && std::regex_match(text, relative_branch));
}

class AgainstObjdump : public testing::TestWithParam<const char*> {};

TEST_P(AgainstObjdump, EveryLengthAgrees) {
  if (access(GetParam(), R_OK) != 0) GTEST_SKIP() << GetParam() << " is not installed";
  const std::string command = std::string("objdump -d -w -z ") + GetParam() + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  ASSERT_NE(pipe, nullptr);

  char* text = nullptr;
  std::size_t capacity = 0, compared = 0, differing = 0;
  while (getline(&text, &capacity, pipe.get()) > 0) {
    Line line;
    if (!parse(text, line)) continue;
    ++compared;
    Instruction instruction;
    const bool decoded = decode(line.bytes.data(), line.bytes.size(), instruction);
    if ((decoded && instruction.length == line.bytes.size()) || is_objdumps_own(line)) continue;
    if (++differing <= 10) {
      ADD_FAILURE() << std::hex << line.address << ": " << line.text << "objdump: " << std::dec << line.bytes.size()
                    << " bytes, ours: " << (decoded ? int{instruction.length} : -1);
    }
  }
  std::free(text);

  EXPECT_EQ(differing, 0U);
  if (compared == 0) GTEST_SKIP() << "objdump is not installed";
  RecordProperty("instructions", static_cast<int>(compared));
}

INSTANTIATE_TEST_SUITE_P(Libraries, AgainstObjdump,
                         testing::Values("/usr/lib/x86_64-linux-gnu/libc.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libmpi.so.40",
                                         "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"));

Instruction decoded(std::vector<std::uint8_t> bytes) {
  Instruction instruction;
  EXPECT_TRUE(decode(bytes.data(), bytes.size(), instruction));
  return instruction;
}

TEST(X86Instruction, FindsTheDisplacementOfARipRelativeOperandBeforeAnImmediate) {
  const Instruction instruction = decoded({0x83, 0x3d, 0x10, 0, 0, 0, 0x07});  // cmp dword [rip+0x10], 7

  EXPECT_EQ(instruction.length, 7);
  EXPECT_TRUE(instruction.rip_relative);
  EXPECT_EQ(instruction.displacement_at, 2);
}

TEST(X86Instruction, FindsRipRelativeOperandsOfVectorInstructions) {
  const Instruction vex = decoded({0xc5, 0xfc, 0x28, 0x05, 1, 2, 3, 4});               // vmovaps ymm0, [rip+..]
  const Instruction evex = decoded({0x62, 0xf1, 0x7c, 0x48, 0x28, 0x05, 1, 2, 3, 4});  // vmovaps zmm0, [rip+..]
  const Instruction three = decoded({0xc4, 0xe3, 0x7d, 0x18, 0x05, 1, 2, 3, 4, 1});    // vinsertf128 .., 1

  EXPECT_TRUE(vex.rip_relative && evex.rip_relative && three.rip_relative);
  EXPECT_EQ(vex.displacement_at, 4);
  EXPECT_EQ(evex.displacement_at, 6);
  EXPECT_EQ(three.length, 10);
}

TEST(X86Instruction, KnowsWhereBranchesGo) {
  const std::uint8_t back[] = {0xeb, 0xfe};
  const std::uint8_t call[] = {0xe8, 0x10, 0, 0, 0};
  const std::uint8_t far[] = {0x0f, 0x84, 0x00, 0x01, 0, 0};

  EXPECT_EQ(branch_target(back, decoded({0xeb, 0xfe}), 0x1000), 0x1000U);
  EXPECT_EQ(branch_target(call, decoded({0xe8, 0x10, 0, 0, 0}), 0x1000), 0x1015U);
  EXPECT_EQ(branch_target(far, decoded({0x0f, 0x84, 0x00, 0x01, 0, 0}), 0x1000), 0x1106U);
  EXPECT_EQ(decoded({0x0f, 0x84, 0, 1, 0, 0}).kind, Kind::kConditional);
  EXPECT_EQ(decoded({0xff, 0x25, 0, 0, 0, 0}).kind, Kind::kIndirectJump);
  EXPECT_EQ(decoded({0xe3, 0x00}).kind, Kind::kLoop);
}

TEST(X86Instruction, RefusesWhatIsTruncatedOrNoInstruction) {
  const std::uint8_t truncated[] = {0x48, 0x8b, 0x05, 1, 2};
  const std::uint8_t invalid[] = {0x06};
  const std::uint8_t prefixes[16] = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                     0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90};
  Instruction instruction;

  EXPECT_FALSE(decode(truncated, sizeof truncated, instruction));
  EXPECT_FALSE(decode(invalid, sizeof invalid, instruction));
  EXPECT_FALSE(decode(prefixes, sizeof prefixes, instruction));
  EXPECT_FALSE(decode(nullptr, 0, instruction));
}

}  // namespace
}  // namespace profshim::elf
