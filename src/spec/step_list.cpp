#include "step_list.h"

#include <algorithm>

#include "override_text.h"
#include "profshim/base/text/number_text.h"

namespace profshim::spec {
namespace {

bool read_number(std::string_view text, std::int64_t& out) {
  return !text.starts_with('-') && parse_number(text, out) && out <= kLargestNumber;
}

bool refuse(Refusal& refusal, const Value& entry, std::string message) {
  refusal = {std::move(message), "write steps like 3 and ranges like \"5-7\", both ends included", entry.line,
             entry.column};
  return false;
}

bool read_text_entry(const Value& entry, std::vector<StepRange>& out, Refusal& refusal) {
  std::string text;
  std::vector<std::string> pieces;
  if (!entry.loose) {
    text = entry.text;
  } else if (!unquote(entry.text, text)) {
    return refuse(refusal, entry, "the quotes of " + quoted(entry.text) + " are not closed");
  }
  if (!split_list(text, pieces) || pieces.empty())
    return refuse(refusal, entry, quoted(text) + " is not a list of steps");
  for (const std::string& piece : pieces) {
    const std::size_t dash = piece.find('-');
    StepRange range;
    bool fine = read_number(std::string_view(piece).substr(0, dash), range.first);
    range.last = range.first;
    if (dash != std::string::npos) fine &= read_number(std::string_view(piece).substr(dash + 1), range.last);
    if (!fine) return refuse(refusal, entry, quoted(piece) + " is neither a step nor a range of steps");
    if (range.last < range.first)
      return refuse(refusal, entry, "the range " + quoted(piece) + " ends before it begins");
    out.push_back(range);
  }
  return true;
}

void sort_and_merge(std::vector<StepRange>& ranges, std::int64_t gap) {
  std::sort(ranges.begin(), ranges.end(), [](const StepRange& a, const StepRange& b) { return a.first < b.first; });
  std::vector<StepRange> merged;
  for (const StepRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().last + gap) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

std::string range_text(const StepRange& range) {
  return range.first == range.last ? std::to_string(range.first)
                                   : std::to_string(range.first) + "-" + std::to_string(range.last);
}

}  // namespace

bool read_steps(const Value& value, std::vector<StepRange>& out, Refusal& refusal) {
  std::vector<Value> entries;
  if (value.kind == Value::Kind::kText && !value.loose) {
    entries.push_back(value);
  } else if (!read_list(value, entries, refusal)) {
    return false;
  }
  std::vector<StepRange> ranges;
  for (const Value& entry : entries) {
    if (entry.kind == Value::Kind::kText) {
      if (!read_text_entry(entry, ranges, refusal)) return false;
    } else if (entry.kind == Value::Kind::kInteger) {
      if (entry.integer < 0) return refuse(refusal, entry, "a step cannot be negative");
      if (entry.integer > kLargestNumber)
        return refuse(refusal, entry, "a step cannot be larger than 9007199254740992");
      ranges.push_back({entry.integer, entry.integer});
    } else {
      return refuse(refusal, entry, "an entry must be a step or a range, not " + std::string(describe_kind(entry)));
    }
  }
  sort_and_merge(ranges, 0);
  out = std::move(ranges);
  return true;
}

void merge_adjacent(std::vector<StepRange>& ranges) { sort_and_merge(ranges, 1); }

std::vector<StepRange> intersect(const std::vector<StepRange>& a, const std::vector<StepRange>& b) {
  std::vector<StepRange> out;
  for (const StepRange& x : a) {
    for (const StepRange& y : b) {
      const StepRange common = {std::max(x.first, y.first), std::min(x.last, y.last)};
      if (common.first <= common.last) out.push_back(common);
    }
  }
  sort_and_merge(out, 0);
  return out;
}

std::string steps_to_toml(const std::vector<StepRange>& ranges) {
  std::string out = "[";
  for (const StepRange& range : ranges) {
    if (out.size() > 1) out += ", ";
    out += range.first == range.last ? range_text(range) : toml_string(range_text(range));
  }
  return out + "]";
}

Value steps_to_value(const std::vector<StepRange>& ranges) {
  std::vector<std::string> texts;
  for (const StepRange& range : ranges) texts.push_back(range_text(range));
  return make_list(std::move(texts));
}

}  // namespace profshim::spec
