// Makes the texts of recorded call stacks (profshim/call_stack.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kineto/definitions.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

/// Returns 0 if the event has no stack.
StringId stack_of(const Event& event);

class CallStacks {
 public:
  /// `detail`: spool::DetailBits; other kinds of frames are left out.
  CallStacks(const spool::View& view, const Definitions& definitions, std::int64_t detail)
      : view_(view), definitions_(definitions), detail_(detail) {}

  /// Add all stacks first: each name_addresses() reads the symbols of all files with unnamed frames.
  void add(StringId stack);
  void name_addresses();

  using Frames = std::vector<std::string_view>;
  /// Returns Python frames, else native frames; innermost first. Valid until the next call, like the others.
  const Frames& frames(StringId stack);
  /// Returns the classes of the nn.Modules, outermost first.
  const Frames& modules(StringId stack);
  /// Returns nothing for stacks without Python frames: frames() returns their native frames.
  const Frames& native_frames(StringId stack);

 private:
  struct Content;
  Content content_of(StringId stack) const;
  void add_native(const Content& content);
  std::string_view name_of(std::uint64_t address);
  const spool::View& view_;
  const Definitions& definitions_;
  std::int64_t detail_;
  std::unordered_set<StringId> known_;
  std::unordered_map<std::uint64_t, std::string> names_;
  Frames frames_;
};

}  // namespace profshim::kineto
