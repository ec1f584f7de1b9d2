#pragma once

#include <array>
#include <span>
#include <string_view>

#include "profshim/trace/events.h"

namespace profshim::kineto {

template <std::size_t kRoom>
class ArgList {
 public:
  void clear() { used_ = 0; }
  /// Does not copy texts. Drops args beyond kRoom.
  void add(std::string_view key, decltype(Arg::value) value) {
    if (used_ < args_.size()) args_[used_++] = {key, value};
  }
  std::span<const Arg> all() const { return {args_.data(), used_}; }

 private:
  std::array<Arg, kRoom> args_;
  std::size_t used_ = 0;
};

}  // namespace profshim::kineto
