#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profshim::analysis_detail {

/// Index in a Texts object; 0 = "".
using TextId = std::uint32_t;

/// Views of texts stay valid as long as the object, also after a move.
class Texts {
 public:
  Texts() { add(""); }
  Texts(Texts&&) = default;  // no copies: ids_ holds views into texts_
  Texts& operator=(Texts&&) = default;
  TextId add(std::string_view text) {
    if (const auto at = ids_.find(text); at != ids_.end()) return at->second;
    const auto id = static_cast<TextId>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  std::string_view operator[](TextId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, TextId> ids_;
};

template <class Predicate>
std::vector<bool> matching_texts(const Texts& texts, const Predicate& matches) {
  std::vector<bool> result(texts.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = matches(texts[static_cast<TextId>(i)]);
  return result;
}

}  // namespace profshim::analysis_detail
