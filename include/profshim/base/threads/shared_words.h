// Records in a ring that its writer may overwrite while another thread reads. Words are copied with relaxed atomics: a
// read may return a mix of two records, but is not undefined. The reader detects a mix by reading the ring's counter
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace profshim {

template <class T>
inline constexpr bool kIsWords = std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0 && alignof(T) % 8 == 0;

/// Call on one thread at a time.
template <class T>
void store_words(T& to, const T& value) {
  static_assert(kIsWords<T>);
  std::uint64_t words[sizeof(T) / 8];
  __builtin_memcpy(words, &value, sizeof words);
  auto* const place = reinterpret_cast<char*>(&to);
  for (std::size_t i = 0; i < sizeof(T) / 8; ++i) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(place) + i, words[i], __ATOMIC_RELAXED);
  }
}

template <class T>
T load_words(const T& from) {
  static_assert(kIsWords<T>);
  std::uint64_t words[sizeof(T) / 8];
  const auto* const place = reinterpret_cast<const char*>(&from);
  for (std::size_t i = 0; i < sizeof(T) / 8; ++i) {
    words[i] = __atomic_load_n(reinterpret_cast<const std::uint64_t*>(place) + i, __ATOMIC_RELAXED);
  }
  T value;
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}

}  // namespace profshim
