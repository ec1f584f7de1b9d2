// Gives the test program a /dev/shm of its own.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

namespace profshim::e2e {
namespace {

// Spools may lie in /dev/shm, which other processes of this machine use too. Where we may, we take one of our own, so
// that "nothing is left behind" is about us alone.
class PrivateSharedMemory : public testing::Environment {
 public:
  void SetUp() override {
    if (unshare(CLONE_NEWNS) != 0) return;  // not root: shared with others, who do not use our names
    // Below a chroot, "/" is no mount of its own.
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 &&
        mount("none", "/dev/shm", nullptr, MS_PRIVATE, nullptr) != 0) {
      return;
    }
    (void)!mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
  }
};
[[maybe_unused]] auto* const private_shared_memory = testing::AddGlobalTestEnvironment(new PrivateSharedMemory);

}  // namespace
}  // namespace profshim::e2e
