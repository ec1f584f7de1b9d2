#include "rank_text.h"

namespace profshim::analysis_detail {
namespace {
constexpr std::string_view kKey = "\"rank\":";
constexpr int kMaxDigits = 9;
}  // namespace

void RankText::step(char c) {
  if (matched_ == kKey.size()) {
    if (c == ' ' || c == '\t') {
      blank_ = true;
      done_ = digits_ > 0;
      return;
    }
    if (blank_ && c >= '0' && c <= '9' && digits_ < kMaxDigits) {
      rank_ = rank_ * 10 + (c - '0');
      ++digits_;
      return;
    }
    done_ = digits_ > 0;
    matched_ = 0;
    blank_ = false;
  }
  // In valid JSON, the key can start again only at the quote that did not match.
  if (c == kKey[matched_]) {
    ++matched_;
  } else {
    matched_ = c == kKey[0] ? 1 : 0;
  }
}

void RankText::feed(std::string_view piece) {
  for (std::size_t i = 0; i < piece.size() && !done_; ++i) {
    if (matched_ == 0) {
      i = piece.find(kKey[0], i);
      if (i == std::string_view::npos) return;
    }
    step(piece[i]);
  }
}

}  // namespace profshim::analysis_detail
