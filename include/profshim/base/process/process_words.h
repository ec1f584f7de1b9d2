// Words that are zero in a new process. The kernel clears their page in a child of fork(), and of _Fork(), clone()
// without CLONE_VM and the system calls, which run no atfork handlers. A child of vfork() shares its parent's memory:
// nothing is cleared there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profshim {

namespace session {
enum class Phase : std::uint8_t;
}

/// The kernel's largest page.
#if defined(__aarch64__)
inline constexpr std::size_t kLargestPage = 65536;
#else
inline constexpr std::size_t kLargestPage = 4096;
#endif

/// Fills its pages alone, since the kernel clears whole pages.
struct alignas(kLargestPage) ProcessWords {
  std::atomic<std::uint32_t> mode{0};                    // see recorder::mode(); inject/symbol/routines.S reads it, too
  std::atomic<session::Phase> phase{};                   // of the session
  std::atomic<bool> is_known{false}, is_leaving{false};  // see inject/parent.h
  std::atomic<bool> has_block{false};                    // PyTorch has allocated a block of memory
};
/// Hidden: each hook loads the mode by one instruction.
[[gnu::visibility("hidden")]] extern constinit ProcessWords process_words;

/// Library's constructor only. Returns false if the kernel clears no page (Linux before 4.14): then only fork() clears
/// the words.
bool clear_words_in_children();

}  // namespace profshim
