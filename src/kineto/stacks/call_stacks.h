// Call stacks as the trace shows them. profshim/call_stack.h describes their form in the spool.
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

/// Returns the stack of an event; 0 = none.
StringId stack_of(const Event& event);

class CallStacks {
 public:
  CallStacks(const spool::View& view, const Definitions& definitions) : view_(view), definitions_(definitions) {}

  /// Native frames get names if all stacks are added first and then named at once. name_addresses() reads the symbols
  /// of the files that have frames without a name; a second call without new frames reads nothing.
  void add(StringId stack);
  void name_addresses();

  using Frames = std::vector<std::string_view>;
  /// Returns the Python frames, or the native frames if there are none; innermost first. Valid until the next call.
  const Frames& frames(StringId stack);
  /// Returns the native frames of a stack that has Python frames too; else nothing. Valid until the next call.
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
