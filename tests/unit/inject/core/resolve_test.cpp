#include "inject/core/loader/resolve.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "unit/temporary_folder.h"

namespace profshim::inject {
namespace {

TEST(MpiLibraries, AreKnownByTheirFileNames) {
  for (const char* const name : {"/opt/a b/libmpi.so.40", "libmpich.so.12", "libmpi_cray.so.12", "libmpi_abi.so.0",
                                 "wheel.libs/libmpi-1a2b3c.so.40", "libmpich-1a2b3c.so.12"}) {
    EXPECT_TRUE(is_mpi_library(name)) << name;
  }
  for (const char* const name : {"libmpi_mpifh.so.40", "libmpifort.so.12", "libmpihelper.so", "/libmpi.so/libc.so.6"}) {
    EXPECT_FALSE(is_mpi_library(name)) << name;
  }
}

constexpr const char* kAnyLibrary = "libresolv.so.2";  // part of glibc, not loaded in this test

void* open_as_mpi(const std::string& folder) {
  void* const library = dlopen(kAnyLibrary, RTLD_NOW | RTLD_LOCAL);
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  const std::string path = folder + "/libmpi-test.so";
  std::filesystem::copy_file(map->l_name, path);
  dlclose(library);
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// dlopen() takes the loader's lock, then the lock of dl_iterate_phdr(). A dl_iterate_phdr() callback that calls
// dlopen() could deadlock.
TEST(Resolve, DoesNotDeadlockWhileAnotherThreadOpensLibraries) {
  const test::TemporaryFolder folder;
  void* const mpi = open_as_mpi(folder.path());
  ASSERT_NE(mpi, nullptr) << dlerror();
  std::atomic<bool> stop{false};
  std::thread opens([&] {
    while (!stop) {
      if (void* const library = dlopen(kAnyLibrary, RTLD_NOW | RTLD_LOCAL)) dlclose(library);
    }
  });
  constexpr int kRounds = 3000;
  int found = 0;
  for (int i = 0; i < kRounds; ++i) found += resolve("no_such_function_anywhere", Layer::kMpi) != nullptr ? 1 : 0;
  stop = true;
  opens.join();
  EXPECT_EQ(found, 0);
  EXPECT_NE(resolve("ns_initparse", Layer::kMpi), nullptr) << "it was not looked for in the library";
  dlclose(mpi);
}

// PyTorch may be part of a library with any name.
TEST(Resolve, FindsPyTorchsFunctionsInALibraryOfAnyName) {
  ASSERT_EQ(resolve("ns_initparse", Layer::kTorch), nullptr);
  void* const library = dlopen(kAnyLibrary, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(resolve("ns_initparse", Layer::kTorch), dlsym(library, "ns_initparse"));
  EXPECT_EQ(resolve("ns_initparse", Layer::kNccl), nullptr);
  dlclose(library);
}

}  // namespace
}  // namespace profshim::inject
