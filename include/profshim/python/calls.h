// Calls of Python functions (capture.python_calls) in the spool. A thread commits kPythonMarks events, each with up to
// five begins and ends, and, at its first mark in a window, the frames that are already on its stack (kPythonStack).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "profshim/event.h"

namespace profshim::python_calls {

/// A begin or end of a call as one word: ticks since Event::begin in the high half.
struct Mark {
  static constexpr std::uint32_t kEndBit = 1u << 31;

  std::uint32_t after;  // ticks since Event::begin
  bool is_end;
  std::uint32_t id;  // begin: StringId of a CallSite, or kLost; end: CallSite::function

  std::uint64_t word() const { return std::uint64_t{after} << 32 | (is_end ? kEndBit : 0) | id; }
  static Mark unpack(std::uint64_t word) {
    const auto low = static_cast<std::uint32_t>(word);
    return {static_cast<std::uint32_t>(word >> 32), (low & kEndBit) != 0, low & ~kEndBit};
  }
};
/// The string arena had no room for the CallSite.
inline constexpr std::uint32_t kLost = Mark::kEndBit - 1;

enum class StackPart : std::uint32_t {
  kFirst,      // with the outermost frames
  kAfterLoss,  // kFirst, and marks before it are lost
  kMore,
};

/// A text of the string arena: the function that is called, and from where. One text for each pair.
struct CallSite {
  StringId name;           // "file(line): function", "<built-in ...>", or class of an nn.Module
  StringId caller;         // "file:line"
  std::uint32_t function;  // number of the function, not 0; two may have the same
  std::uint32_t reserved;
  std::uint64_t module_type, module;  // addresses of class and object of an nn.Module; else 0

  std::string_view text() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
  static CallSite parse(std::string_view text) {
    CallSite site{};
    if (text.size() == sizeof site) std::memcpy(&site, text.data(), sizeof site);
    return site;
  }
};
static_assert(sizeof(CallSite) == 32);

}  // namespace profshim::python_calls
