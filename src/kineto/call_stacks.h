// Call stacks as the trace shows them: see profshim/call_stack.h for what the spool holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kineto/args/event_args.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

/// The stack of an event; 0 = none.
StringId stack_of(const Event& event);

class CallStacks {
 public:
  CallStacks(const spool::View& view, const Definitions& definitions) : view_(view), definitions_(definitions) {}

  /// Native frames have names once all stacks have been added and named: each file's symbols are read once.
  void add(StringId stack);
  void name_addresses();

  using Frames = std::vector<std::string_view>;
  /// Python's frames, and where there are none the native ones; the innermost first. Valid until the next call.
  const Frames& frames(StringId stack);
  /// The native frames of a stack that has Python's as well; else none.
  const Frames& native_frames(StringId stack);

 private:
  struct Content;
  Content content_of(StringId stack) const;
  void add_native(const Content& content);
  std::string_view name_of(std::uint64_t address);
  const spool::View& view_;
  const Definitions& definitions_;
  std::unordered_set<StringId> known_;
  std::unordered_map<std::uint64_t, std::string> names_;  // by address
  Frames frames_;
};

}  // namespace profshim::kineto
