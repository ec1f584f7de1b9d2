#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace fake::cupti {

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, used = 0, records = 0, maximum = 0;
  std::mutex lock;  // protects the members below
  std::size_t incomplete = 0;
  bool returned = false;
  /// Returns false if records are incomplete, unless `forced`. If true, nothing more is written into the buffer.
  bool give_back(bool forced) {
    const std::lock_guard guard(lock);
    if (incomplete > 0 && !forced) return false;
    returned = true;
    return true;
  }
};
using SharedBuffer = std::shared_ptr<Buffer>;

struct BufferSlot {
  std::mutex lock;
  SharedBuffer buffer = std::make_shared<Buffer>();
};

struct Reserved {
  SharedBuffer buffer;
  std::size_t offset = 0;
};

}  // namespace fake::cupti
