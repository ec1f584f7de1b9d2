#include "activity_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profshim/trace/schema.h"
#include "timeline.h"

namespace profshim::analysis_detail {
namespace {

struct Named {
  std::string_view text;
  Kind kind;
};
struct Refined {
  Kind from;
  std::string_view part;
  Kind kind;
};

constexpr Named kCategories[] = {
#define CATEGORY(text, kind) {text, Kind::kind},
#include "activity_names.def"
};
constexpr Named kProcesses[] = {
#define PROCESS(start, kind) {start, Kind::kind},
#include "activity_names.def"
};
constexpr Refined kRefined[] = {
#define REFINE(from, part, kind) {Kind::from, part, Kind::kind},
#include "activity_names.def"
};
constexpr std::string_view kCalls[] = {
#define CALL(start) start,
#include "activity_names.def"
};
constexpr std::string_view kLaunches[] = {
#define LAUNCH(start) start,
#include "activity_names.def"
};
constexpr std::string_view kPolls[] = {
#define POLL(start) start,
#include "activity_names.def"
};
constexpr std::string_view kCollectives[] = {
#define COLLECTIVE(part) part,
#include "activity_names.def"
};

template <class List>
bool starts_with_any(std::string_view name, const List& starts) {
  return std::any_of(std::begin(starts), std::end(starts),
                     [=](std::string_view start) { return name.starts_with(start); });
}

/// "hipMalloc" is a call; "hip_layer" and "cuda stream" are ranges that a user named.
bool is_call(std::string_view name) {
  return std::any_of(std::begin(kCalls), std::end(kCalls), [=](std::string_view start) {
    if (!name.starts_with(start) || name.size() == start.size()) return false;
    const char next = name[start.size()];
    return start.ends_with('@') || (next >= 'A' && next <= 'Z');
  });
}

Kind refined(Kind kind, std::string_view name) {
  for (const Refined& row : kRefined) {
    if (row.from == kind && name.find(row.part) != std::string_view::npos) return row.kind;
  }
  return kind;
}

}  // namespace

Kind kind_of(std::string_view category) {
  for (const auto& [text, kind] : kCategories) {
    if (text.starts_with('*') ? category.ends_with(text.substr(1)) : category == text) return kind;
  }
  return Kind::kOther;
}

Kind kind_of(std::string_view category, std::string_view name) {
  const Kind kind = kind_of(category);
  // Kineto's own category "kernel" is exact: a kernel may have any name.
  return category.starts_with(schema::category::kMtiaStart) ? refined(kind, name) : kind;
}

Kind kind_without_category(std::string_view process, std::string_view name) {
  for (const auto& [start, kind] : kProcesses) {
    if (process.starts_with(start)) return refined(kind, name);
  }
  if (const Kind kind = refined(Kind::kOther, name); kind != Kind::kOther) return kind;
  return is_call(name) ? Kind::kRuntime : Kind::kOther;
}

bool is_launch(std::string_view name) { return starts_with_any(name, kLaunches); }

bool is_poll(std::string_view name) { return starts_with_any(name, kPolls); }

bool is_collective_kernel(std::string_view name) {
  return std::any_of(std::begin(kCollectives), std::end(kCollectives),
                     [=](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace profshim::analysis_detail
