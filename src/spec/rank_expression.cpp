// Rank expressions: "0,8-15", "node:0 & local:0-3", "!7". ! binds tightest, then &, then the comma.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "profshim/base/glob.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/spec.h"

namespace profshim {
namespace {

using Node = RankExpression::Node;
using Kind = Node::Kind;

constexpr std::size_t kMostNodes = 1024;
constexpr int kDeepestNesting = 64;
constexpr std::int64_t kLargestRank = std::numeric_limits<std::int32_t>::max();

/// Functions move `at_` behind the part that they read, or set `message_`.
class Parser {
 public:
  Parser(std::string_view text, std::vector<Node>& out) : text_(text), out_(out) {}

  bool parse(std::string& message, int& column) {
    skip_blanks();
    if (at_ == text_.size()) fail("an empty expression selects no rank; write \"all\" for every rank");
    if (ok()) union_of_terms();
    if (ok() && at_ < text_.size()) fail(text_[at_] == ')' ? "\")\" without \"(\"" : "\",\" or \"&\" is missing here");
    message = message_;
    column = static_cast<int>(std::min(failed_at_, text_.size())) + 1;
    return ok();
  }

 private:
  bool ok() const { return message_.empty(); }
  void fail(std::string message) { fail_at(at_, std::move(message)); }
  void fail_at(std::size_t at, std::string message) {
    if (!ok()) return;
    failed_at_ = at;
    message_ = std::move(message);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_blanks();
    return true;
  }
  void push(Node node) {
    if (out_.size() >= kMostNodes) return fail("the expression is too long; write ranges such as 0-15");
    out_.push_back(std::move(node));
  }
  void push(Kind kind) {
    Node node;
    node.kind = kind;
    push(std::move(node));
  }

  void union_of_terms() {
    both();
    while (ok() && take(',')) {
      both();
      push(Kind::kOr);
    }
  }
  void both() {
    negation();
    while (ok() && take('&')) {
      negation();
      push(Kind::kAnd);
    }
  }
  void negation() {
    bool negated = false;
    while (take('!')) negated = !negated;
    primary();
    if (negated && ok()) push(Kind::kNot);
  }
  void primary() {
    skip_blanks();
    const std::size_t open = at_;
    if (!take('(')) return term();
    if (++depth_ > kDeepestNesting) return fail_at(open, "brackets are nested too deeply");
    union_of_terms();
    if (ok() && !take(')')) fail_at(open, "\"(\" is not closed");
    --depth_;
    skip_blanks();
  }

  /// Reads up to a delimiter outside of a glob's brackets: host:node[!3].
  std::string_view word() {
    const std::size_t begin = at_;
    bool in_class = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      if (!in_class && std::string_view(",&!() \t").find(c) != std::string_view::npos) break;
    }
    return text_.substr(begin, at_ - begin);
  }

  void term() {
    const std::size_t begin = at_;
    const std::string_view text = word();
    if (text.empty())
      return fail(at_ < text_.size() ? "a rank, a range or a word is missing here"
                                     : "a rank, a range or a word is missing at the end");
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
      plain_term(text, begin);
    } else {
      named_term(text.substr(0, colon), text.substr(colon + 1), begin);
    }
    skip_blanks();
  }
  void plain_term(std::string_view text, std::size_t begin) {
    if (text == "all") return push(Kind::kAll);
    if (text == "last") return push(Kind::kLast);
    if (text.front() >= '0' && text.front() <= '9') return push(range(Kind::kRange, text, begin));
    static const auto& kWords =
        *new std::vector<std::string_view>{"all", "last", "every:", "local:", "node:", "host:", "role:"};
    const std::string_view near = nearest(text, kWords);
    fail_at(begin, "unknown word \"" + std::string(text.substr(0, 40)) + "\"" +
                       (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?"));
  }
  void named_term(std::string_view name, std::string_view rest, std::size_t begin) {
    const std::size_t rest_at = begin + name.size() + 1;
    if (name == "every") {
      Node node;
      node.kind = Kind::kEvery;
      if (!number(rest, node.stride) || node.stride < 1) return fail_at(rest_at, "every: needs a number of 1 or more");
      return push(std::move(node));
    }
    if (name == "host" || name == "role") {
      if (rest.empty()) return fail_at(rest_at, std::string(name) + ": needs a pattern");
      Node node;
      node.kind = name == "host" ? Kind::kHost : Kind::kRole;
      node.glob = rest;
      return push(std::move(node));
    }
    if (name == "local") return list(Kind::kLocal, rest, rest_at);
    if (name == "node") return list(Kind::kNode, rest, rest_at);
    for (const std::string_view group : {"tp", "pp", "dp", "cp"}) {
      if (name == group) {
        return fail_at(begin, std::string(group) +
                                  ": cannot select: ranks are chosen before the job makes its parallel groups; name "
                                  "the ranks, such as every:8 for tp:0 of 8, or 0-63/16");
      }
    }
    static const auto& kNames = *new std::vector<std::string_view>{"every", "local", "node", "host", "role"};
    const std::string_view near = nearest(name, kNames);
    fail_at(begin, "unknown selector \"" + std::string(name.substr(0, 40)) + ":\"" +
                       (near.empty() ? "; known: every:, local:, node:, host:, role:"
                                     : "; did you mean \"" + std::string(near) + ":\"?"));
  }
  /// Reads "0-3" or "(0,2)": a comma outside of brackets separates whole terms.
  void list(Kind kind, std::string_view rest, std::size_t rest_at) {
    if (!rest.empty()) return push(range(kind, rest, rest_at));
    if (!take('(')) return fail("a number, a range or a list in brackets is missing here");
    std::size_t entries = 0;
    do {
      const std::size_t begin = at_;
      push(range(kind, word(), begin));
      if (++entries > 1) push(Kind::kOr);
    } while (ok() && take(','));
    if (ok() && !take(')')) fail_at(rest_at, "\"(\" is not closed");
  }
  Node range(Kind kind, std::string_view text, std::size_t begin) {
    Node node;
    node.kind = kind;
    const std::size_t slash = text.find('/');
    const std::string_view ends = text.substr(0, slash);
    const std::size_t dash = ends.find('-');
    bool fine = number(ends.substr(0, dash), node.first);
    node.last = node.first;
    if (dash != std::string_view::npos) fine &= number(ends.substr(dash + 1), node.last);
    if (slash != std::string_view::npos)
      fine &= dash != std::string_view::npos && number(text.substr(slash + 1), node.stride);
    if (!fine) {
      fail_at(begin, "\"" + std::string(text.substr(0, 40)) + "\" is neither a number nor a range like 8-15 or 0-15/4");
    } else if (node.last < node.first) {
      fail_at(begin, "the range ends before it begins");
    } else if (node.stride < 1) {
      fail_at(begin, "the step of a range must be 1 or more");
    }
    return node;
  }
  static bool number(std::string_view text, std::int64_t& out) {
    return !text.starts_with('-') && parse_number(text, out) && out <= kLargestRank;
  }

  std::string_view text_;
  std::vector<Node>& out_;
  std::size_t at_ = 0, failed_at_ = 0;
  int depth_ = 0;
  std::string message_;
};

/// A term about an unknown rank or host is unknown, and so is its negation.
enum class Truth : std::uint8_t { kFalse, kUnknown, kTrue };

Truth truth(bool value) { return value ? Truth::kTrue : Truth::kFalse; }

Truth in_range(const Node& node, std::int64_t value) {
  if (value < 0) return Truth::kUnknown;
  return truth(value >= node.first && value <= node.last && (value - node.first) % node.stride == 0);
}

Truth term_truth(const Node& node, const Rank& rank) {
  switch (node.kind) {
    case Kind::kRange:
      return in_range(node, rank.rank);
    case Kind::kAll:
      return Truth::kTrue;
    case Kind::kLast:
      return rank.rank < 0 || rank.world_size < 0 ? Truth::kUnknown : truth(rank.rank == rank.world_size - 1);
    case Kind::kEvery:
      return rank.rank < 0 ? Truth::kUnknown : truth(rank.rank % node.stride == 0);
    case Kind::kLocal:
      return in_range(node, rank.local_rank);
    case Kind::kNode:
      return in_range(node, rank.node_rank);
    case Kind::kHost:
      return rank.host.empty() ? Truth::kUnknown : truth(glob_match(node.glob, rank.host));
    case Kind::kRole:
      return !rank.role ? Truth::kUnknown : truth(glob_match(node.glob, *rank.role));
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kNot:
      break;
  }
  return Truth::kUnknown;
}

/// Evaluates the postfix form in Kleene's three-valued logic.
Truth evaluate(const std::vector<Node>& nodes, const Rank& rank) {
  std::vector<Truth> stack;
  stack.reserve(nodes.size());
  for (const Node& node : nodes) {
    if (node.kind == Kind::kNot) {
      stack.back() = static_cast<Truth>(2 - static_cast<int>(stack.back()));
    } else if (node.kind == Kind::kAnd || node.kind == Kind::kOr) {
      const Truth right = stack.back();
      stack.pop_back();
      stack.back() = node.kind == Kind::kAnd ? std::min(stack.back(), right) : std::max(stack.back(), right);
    } else {
      stack.push_back(term_truth(node, rank));
    }
  }
  return stack.empty() ? Truth::kFalse : stack.back();
}

}  // namespace

RankExpression::RankExpression() : text_("0"), nodes_(1) {}

bool RankExpression::parse(std::string_view text, std::string& message, int& column) {
  std::vector<Node> nodes;
  if (!Parser(text, nodes).parse(message, column)) return false;
  text_ = text;
  nodes_ = std::move(nodes);
  return true;
}

bool RankExpression::selects(const Rank& rank) const { return evaluate(nodes_, rank) == Truth::kTrue; }

std::vector<int> RankExpression::outside(int world_size) const {
  std::vector<int> numbers;
  for (const Node& node : nodes_) {
    if (node.kind != Kind::kRange) continue;
    for (const std::int64_t number : {node.first, node.last}) {
      if (number >= world_size) numbers.push_back(static_cast<int>(number));
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// Tries one period of all strides from each end of a range: the result repeats up to the next end.
bool RankExpression::selects_nobody() const {
  constexpr std::int64_t kFarthest = 1 << 16;
  std::vector<std::int64_t> edges = {0};
  std::int64_t period = 1;
  for (const Node& node : nodes_) {
    if (node.kind != Kind::kRange && node.kind != Kind::kEvery) continue;
    if (period <= kFarthest) period *= node.stride;
    if (node.kind == Kind::kRange) edges.insert(edges.end(), {node.first, node.last + 1});
  }
  const auto tries = static_cast<std::int64_t>(edges.size() * nodes_.size());
  if (period > kFarthest || period * tries > kFarthest * 16) return false;
  Rank rank;
  for (const std::int64_t edge : edges) {
    for (std::int64_t r = edge; r < edge + period; ++r) {
      rank.rank = static_cast<int>(std::min(r, kLargestRank));
      if (evaluate(nodes_, rank) != Truth::kFalse) return false;
    }
  }
  return true;
}

}  // namespace profshim
