#include <gtest/gtest.h>

#include <vector>

#include "profshim/elf.h"

namespace profshim::elf {
namespace {

using Bytes = std::vector<std::uint8_t>;

Code code_at(const Bytes& bytes, std::uint64_t address = 0x1000) { return {bytes.data(), bytes.size(), address}; }

TEST(ExamineEntry, MovesWholeInstructionsAndKeepsEndbr64) {
  const Bytes bytes = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc9, 0xc3};

  const Entry entry = examine_entry(code_at(bytes), {}, kNearJump);

  EXPECT_EQ(entry.refusal, "");
  EXPECT_EQ(entry.patch_at, 4U);
  EXPECT_EQ(entry.displaced, 8U);
}

TEST(ExamineEntry, RefusesAFunctionThatIsTooShort) {
  const Bytes bytes = {0x31, 0xc0, 0xc3};

  EXPECT_EQ(examine_entry(code_at(bytes), {}, kNearJump).refusal, "the function has 3 bytes, profshim's jump needs 5");
}

TEST(ExamineEntry, RefusesABranchBackToTheEntry) {
  const Bytes bytes = {0x48, 0xff, 0xc7, 0x80, 0x3f, 0x00, 0x75, 0xf8, 0xc3};  // inc rdi; cmp [rdi],0; jne entry; ret

  EXPECT_NE(examine_entry(code_at(bytes), {}, kNearJump).refusal.find("a branch to"), std::string::npos);
}

TEST(ExamineEntry, RefusesABranchFromAColdPart) {
  const Bytes bytes = {0x48, 0x83, 0xec, 0x08, 0x85, 0xff, 0x90, 0xc3};
  const Bytes cold = {0xe9, 0xff, 0xef, 0xff, 0xff};  // at 0x2000: jmp 0x1004

  EXPECT_NE(examine_entry(code_at(bytes), {code_at(cold, 0x2000)}, kNearJump).refusal, "");
}

TEST(RelocateEntry, AdjustsRipRelativeOperandsAndReturnsBehindTheMovedBytes) {
  const Bytes bytes = {0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, 0xc3};  // mov eax, [rip+0x10] -> 0x1016
  const Code function = code_at(bytes);
  const Entry entry = examine_entry(function, {}, kNearJump);
  Bytes moved;
  std::string refusal;

  ASSERT_TRUE(relocate_entry(function, entry, 0x2000, moved, refusal)) << refusal;

  const Bytes expected = {0x8b, 0x05, 0x10, 0xf0, 0xff, 0xff, 0xff, 0x25, 0, 0, 0, 0, 0x06, 0x10, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(moved, expected);
}

TEST(RelocateEntry, RefusesAFarCall) {
  const Bytes bytes = {0x90, 0x90, 0x90, 0xff, 0x1f, 0xc3};  // nop; nop; nop; call far [rdi]; ret
  const Code function = code_at(bytes);
  Bytes moved;
  std::string refusal;

  EXPECT_FALSE(relocate_entry(function, examine_entry(function, {}, kNearJump), 0x2000, moved, refusal));
  EXPECT_NE(refusal.find("a far call"), std::string::npos) << refusal;
}

TEST(RelocateEntry, RefusesAnOperandOutOfReach) {
  const Bytes bytes = {0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, 0xc3};
  const Code function = code_at(bytes);
  Bytes moved;
  std::string refusal;

  EXPECT_FALSE(relocate_entry(function, examine_entry(function, {}, kNearJump), 1ULL << 40, moved, refusal));
  EXPECT_NE(refusal, "");
}

TEST(SymbolPattern, MatchesMangledAndReadableNamesWithAndWithoutParameters) {
  EXPECT_TRUE(SymbolPattern("Solver::step").matches("_ZN6Solver4stepEi"));
  EXPECT_TRUE(SymbolPattern("Solver::step(int)").matches("_ZN6Solver4stepEi"));
  EXPECT_TRUE(SymbolPattern("_ZN6Solver4stepEi").matches("_ZN6Solver4stepEi"));
  EXPECT_TRUE(SymbolPattern("heat_*").matches("heat_step"));
  EXPECT_FALSE(SymbolPattern("step").matches("_ZN6Solver4stepEi"));
}

TEST(SymbolPattern, MatchesWordsThatMangledNamesAbbreviate) {
  EXPECT_TRUE(SymbolPattern("f(int)").matches("_Z1fi"));
  EXPECT_TRUE(SymbolPattern("Run::step(unsigned long)").matches("_ZN3Run4stepEm"));
  EXPECT_TRUE(SymbolPattern("Run::operator()").matches("_ZN3RunclEi"));
  EXPECT_TRUE(SymbolPattern("(anonymous namespace)::run").matches("_ZN12_GLOBAL__N_13runEv"));
  EXPECT_TRUE(SymbolPattern("void run<int>*").matches("_Z3runIiEvT_"));
  EXPECT_TRUE(SymbolPattern("f(uns*)").matches("_Z1fm"));
  EXPECT_TRUE(SymbolPattern("step[abcdefgh]").matches("_Z5stepcv"));
  EXPECT_FALSE(SymbolPattern("f(int)").matches("_Z1fm"));
}

}  // namespace
}  // namespace profshim::elf
