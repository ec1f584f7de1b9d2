#include "event_args.h"

#include <algorithm>

namespace profshim::analysis_detail {

const ReadEvent::ReadArg* find_arg(const ReadEvent& event, std::string_view key) {
  const auto it = std::find_if(event.args.begin(), event.args.end(), [&](const auto& arg) { return arg.key == key; });
  return it == event.args.end() ? nullptr : &*it;
}

std::int64_t integer_arg(const ReadEvent& event, std::string_view key, std::int64_t otherwise) {
  const ReadEvent::ReadArg* const arg = find_arg(event, key);
  return arg != nullptr && arg->kind == ReadEvent::ReadArg::Kind::kInt ? arg->integer : otherwise;
}

std::string_view text_arg(const ReadEvent& event, std::string_view key) {
  const ReadEvent::ReadArg* const arg = find_arg(event, key);
  return arg != nullptr ? arg->text : std::string_view{};
}

}  // namespace profshim::analysis_detail
