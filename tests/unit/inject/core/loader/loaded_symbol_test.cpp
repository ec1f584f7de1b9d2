#include "inject/core/loader/loaded_symbol.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "inject/core/loader/real_dlsym.h"
#include "unit/not_under_tsan.h"

namespace profshim::inject {
namespace {

TEST(LoadedSymbol, FindsTheDefaultVersionAsTheLoaderDoes) {
  NOT_UNDER_TSAN("it replaces functions of libc");
  const link_map* const libc = file_named("libc.so.6", loaded_files());
  ASSERT_NE(libc, nullptr);

  for (const char* name : {"pthread_cond_wait", "realpath", "printf"}) {
    EXPECT_EQ(function_in(libc->l_ld, libc->l_addr, name), dlsym(RTLD_NEXT, name)) << name;
  }
  EXPECT_EQ(function_in(libc->l_ld, libc->l_addr, "no_such_function"), nullptr);
  EXPECT_EQ(function_in(libc->l_ld, libc->l_addr, "stdout"), nullptr) << "no function";
  EXPECT_EQ(file_named("libnone.so.1", loaded_files()), nullptr);
}

TEST(LoadedSymbol, TheKernelTellsTheSameFiles) {
  EXPECT_TRUE(is_relocated());
  EXPECT_EQ(loaded_files_before_relocation(), loaded_files());
}

TEST(LoadedSymbol, TheRealLookupsAreTheLoaders) {
  EXPECT_EQ(real_dlsym(RTLD_DEFAULT, "getpid"), dlsym(RTLD_DEFAULT, "getpid"));
  EXPECT_EQ(reinterpret_cast<void*>(next_dlsym()), reinterpret_cast<void*>(&dlsym));
  EXPECT_EQ(reinterpret_cast<void*>(next_dlvsym()), reinterpret_cast<void*>(&dlvsym));
}

}  // namespace
}  // namespace profshim::inject
