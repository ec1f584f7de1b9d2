#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <cstdint>
#include <string>

namespace profshim::e2e {

/// A private /dev/shm of this process and its children.
class OwnSharedMemory {
 public:
  OwnSharedMemory() = default;
  ~OwnSharedMemory() {
    if (mounted_) umount2("/dev/shm", MNT_DETACH);
  }
  OwnSharedMemory(const OwnSharedMemory&) = delete;
  OwnSharedMemory& operator=(const OwnSharedMemory&) = delete;
  bool mount_of(std::uint64_t bytes) {
    const std::string size = "size=" + std::to_string(bytes) + ",mode=1777";
    mounted_ = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", "/dev/shm", "tmpfs", 0, size.c_str()) == 0;
    return mounted_;
  }

 private:
  bool mounted_ = false;
};

}  // namespace profshim::e2e
