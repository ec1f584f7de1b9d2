#include "kineto/stacks/call_stacks.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "profshim/call_stack.h"
#include "profshim/elf.h"
#include "unit/spool_fixture.h"

namespace profshim::kineto {
namespace {

constexpr std::uint64_t kBegin = 0x10000000;

class CallStacksTest : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(16); }

  static StringId native_stack(std::uint64_t return_address) {
    const call_stack::Header header{0, 1};
    std::string bytes(sizeof header + sizeof return_address, 0);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &return_address, sizeof return_address);
    return recorder::intern(bytes);
  }
};

TEST_F(CallStacksTest, EachFileIsReadOnce) {
  Dl_info libc{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &libc), 0);
  const std::string file = folder_.path() + "/library.so";
  std::filesystem::copy_file(libc.dli_fname, file);
  std::uint64_t offset = 0;
  elf::File symbols;
  std::string error;
  ASSERT_TRUE(symbols.map(file, error)) << error;
  symbols.for_each_function([&](const elf::Symbol& symbol) {
    if (offset == 0 && symbol.size > 8) offset = symbol.file_offset;
  });
  ASSERT_NE(offset, 0u);
  recorder::define(spool::DefinitionKind::kModule, 0, recorder::intern(file), 0,
                   {kBegin, kBegin + (std::int64_t{1} << 30), 0, kBegin});
  const StringId stack = native_stack(kBegin + offset + 4);
  const auto spool = view();
  const Definitions definitions(*spool);
  CallStacks stacks(*spool, definitions, spool::kPythonStack | spool::kNativeStack);

  stacks.add(stack);
  stacks.name_addresses();
  ASSERT_EQ(stacks.frames(stack).size(), 1u);
  const std::string name(stacks.frames(stack)[0]);
  EXPECT_EQ(name.find("+0x"), std::string::npos) << name;

  std::filesystem::remove(file);
  stacks.add(stack);
  stacks.name_addresses();
  EXPECT_EQ(stacks.frames(stack)[0], name);
}

}  // namespace
}  // namespace profshim::kineto
