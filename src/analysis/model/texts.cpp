#include "texts.h"

namespace profshim::analysis_detail {

TextId Texts::add(std::string_view text) {
  if (const auto at = ids_.find(text); at != ids_.end()) return at->second;
  const auto id = static_cast<TextId>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

}  // namespace profshim::analysis_detail
