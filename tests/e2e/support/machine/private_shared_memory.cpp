// In a shared /dev/shm, other processes' spools would disturb tests for leftover files.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

namespace profshim::e2e {
namespace {

class PrivateSharedMemory : public testing::Environment {
 public:
  void SetUp() override {
    if (unshare(CLONE_NEWNS) != 0) return;  // not root: /dev/shm stays shared
    // In a chroot, "/" is not a mount point.
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
