// Sizes of PyTorch's live CPU blocks, because a free does not pass the size. Lock-free; any thread. The allocator
// orders operations on one address, so threads compete only for free slots.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profshim::inject {

/// Zeroed memory (mmap) is an empty table.
class BlockTable {
 public:
  enum class Added : std::uint8_t { kNew, kKnown, kNoRoom };
  struct Change {
    Added added;
    std::uint64_t bytes_before;  // kKnown only
  };

  /// kKnown: the address was in the table, because a free was missed or the block is reported twice.
  Change add(const void* address, std::uint64_t bytes) {
    const std::uint64_t key = key_of(address);
    Bucket& bucket = bucket_of(key);
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (bucket.address[i].load(std::memory_order_relaxed) != key) continue;
      return {Added::kKnown, bucket.bytes[i].exchange(bytes, std::memory_order_relaxed)};
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
      std::uint64_t none = 0;
      if (bucket.address[i].load(std::memory_order_relaxed) != 0 ||
          !bucket.address[i].compare_exchange_strong(none, key, std::memory_order_acquire)) {
        continue;
      }
      // The acquire pairs with remove(), which reads the old size before it frees the slot.
      bucket.bytes[i].store(bytes, std::memory_order_relaxed);
      count_.fetch_add(1, std::memory_order_relaxed);
      return {Added::kNew, 0};
    }
    return {Added::kNoRoom, 0};
  }

  std::uint64_t remove(const void* address) {
    if (count_.load(std::memory_order_relaxed) == 0) return 0;
    const std::uint64_t key = key_of(address);
    Bucket& bucket = bucket_of(key);
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (bucket.address[i].load(std::memory_order_relaxed) != key) continue;
      const std::uint64_t bytes = bucket.bytes[i].load(std::memory_order_relaxed);
      bucket.address[i].store(0, std::memory_order_release);
      count_.fetch_sub(1, std::memory_order_relaxed);
      return bytes;
    }
    return 0;
  }

 private:
  // A full bucket is very unlikely: 65536 blocks fill a quarter of the table.
  static constexpr std::size_t kSlots = 16, kBucketBits = 14;
  struct alignas(64) Bucket {
    std::array<std::atomic<std::uint64_t>, kSlots> address;
    std::array<std::atomic<std::uint64_t>, kSlots> bytes;
  };

  static std::uint64_t key_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }
  Bucket& bucket_of(std::uint64_t key) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return buckets_[key / 16 * kGoldenRatio >> (64 - kBucketBits)];
  }

  std::atomic<std::uint64_t> count_{0};
  std::array<Bucket, std::size_t{1} << kBucketBits> buckets_;
};

}  // namespace profshim::inject
