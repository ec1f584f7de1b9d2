// Which blocks are known, and how long they are: whoever gives one back does not say. Any thread at any time, without a
// lock. What concerns one address is in order, since the allocator gives an address out again only after it has taken
// it back; all that threads compete for is free places.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profshim::inject {

/// All zeros is empty, as mmap() gives it.
class BlockTable {
 public:
  enum class Added : std::uint8_t { kNew, kKnown, kNoRoom };
  struct Change {
    Added added;
    std::uint64_t bytes_before;  // kKnown: what it was taken to hold until now
  };

  /// A block that is known already was given back where nobody saw it, or is told of twice.
  Change add(const void* address, std::uint64_t bytes) {
    const std::uint64_t key = key_of(address);
    Bucket& bucket = bucket_of(key);
    for (std::size_t i = 0; i < kPlaces; ++i) {
      if (bucket.address[i].load(std::memory_order_relaxed) != key) continue;
      return {Added::kKnown, bucket.bytes[i].exchange(bytes, std::memory_order_relaxed)};
    }
    for (std::size_t i = 0; i < kPlaces; ++i) {
      std::uint64_t none = 0;
      if (bucket.address[i].load(std::memory_order_relaxed) != 0 ||
          !bucket.address[i].compare_exchange_strong(none, key, std::memory_order_acquire)) {
        continue;
      }
      // The block that was here before has been read, and this one is read only when it is given back.
      bucket.bytes[i].store(bytes, std::memory_order_relaxed);
      count_.fetch_add(1, std::memory_order_relaxed);
      return {Added::kNew, 0};
    }
    return {Added::kNoRoom, 0};
  }

  /// How long it was; 0 = not known.
  std::uint64_t remove(const void* address) {
    if (count_.load(std::memory_order_relaxed) == 0) return 0;
    const std::uint64_t key = key_of(address);
    Bucket& bucket = bucket_of(key);
    for (std::size_t i = 0; i < kPlaces; ++i) {
      if (bucket.address[i].load(std::memory_order_relaxed) != key) continue;
      const std::uint64_t bytes = bucket.bytes[i].load(std::memory_order_relaxed);
      // Pairs with the exchange of whoever takes the place.
      bucket.address[i].store(0, std::memory_order_release);
      count_.fetch_sub(1, std::memory_order_relaxed);
      return bytes;
    }
    return 0;
  }

 private:
  // A block has its places in one bucket: 65536 blocks fill it to a quarter, and hardly one of them finds none.
  static constexpr std::size_t kPlaces = 16, kBucketBits = 14;
  struct alignas(64) Bucket {
    std::array<std::atomic<std::uint64_t>, kPlaces> address;
    std::array<std::atomic<std::uint64_t>, kPlaces> bytes;
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
