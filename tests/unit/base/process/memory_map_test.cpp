#include "profshim/base/process/memory_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace profshim {
namespace {

TEST(MemoryMap, ParsesALine) {
  MemoryMapping m;
  ASSERT_TRUE(parse_mapping("7f01aa000000-7f01aa021000 r-xp 00002000 fe:01 1234   /usr/lib/a b.so (deleted)\n", m));
  EXPECT_EQ(m.begin, 0x7f01aa000000u);
  EXPECT_EQ(m.end, 0x7f01aa021000u);
  EXPECT_EQ(m.offset, 0x2000u);
  EXPECT_TRUE(m.is_readable);
  EXPECT_FALSE(m.is_writable);
  EXPECT_TRUE(m.is_executable);
  EXPECT_EQ(m.path, "/usr/lib/a b.so (deleted)");

  ASSERT_TRUE(parse_mapping("55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                [heap]", m));
  EXPECT_EQ(m.path, "[heap]");
  EXPECT_TRUE(m.is_writable);
  ASSERT_TRUE(parse_mapping("55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0 \n", m));
  EXPECT_EQ(m.path, "") << "of no file";
  EXPECT_FALSE(parse_mapping("nonsense", m));
}

TEST(MemoryMap, ContainsOurOwnPages) {
  void* const pages = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  const auto code = reinterpret_cast<std::uintptr_t>(&parse_mapping);
  bool found = false, found_code = false;
  std::uint64_t last = 0;
  EXPECT_TRUE(each_mapping([&](const MemoryMapping& m) {
    EXPECT_GE(m.begin, last) << "by ascending address";
    last = m.end;
    found |= m.begin <= address && address < m.end && m.is_readable && !m.is_executable;
    found_code |= m.begin <= code && code < m.end && m.is_executable && m.path.starts_with('/');
  }));
  munmap(pages, 8192);
  EXPECT_TRUE(found);
  EXPECT_TRUE(found_code);
}

}  // namespace
}  // namespace profshim
