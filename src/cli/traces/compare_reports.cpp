#include "compare_reports.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "cli/command.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json/writer.h"

namespace profshim::cli {
namespace {

using What = Change::What;
using Verdict = Change::Verdict;

constexpr std::size_t kWidestName = 60;

std::string_view word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "REGRESSION";
    case Verdict::kNote:
      return "note";
    case Verdict::kCannotTell:
      return "cannot tell";
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSame:
      break;
  }
  return "ok";
}

std::string_view word(What what) {
  constexpr std::array<std::string_view, 3> kWords = {"rule", "count", "time"};
  return kWords[static_cast<std::size_t>(what)];
}

std::string number(double value, const char* unit = "") {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return fixed_text(value, whole && *unit == 0 ? 0 : 1) + unit;
}

bool is_time(const Change& c) { return c.what == What::kTime || c.kind.ends_with("_us"); }

std::string value_text(const Change& c, const std::optional<double>& value) {
  if (!value) return "-";
  return number(*value, is_time(c) ? " us" : "");
}

std::string change_text(const Change& c) {
  if (!c.before) return value_text(c, c.after);
  std::string text = value_text(c, c.before) + " -> " + value_text(c, c.after);
  if (is_time(c) && *c.before > 0 && c.after) {
    const double percent = (*c.after / *c.before - 1) * 100;
    text += (std::signbit(percent) ? " (" : " (+") + fixed_text(percent, 1) + " %)";
  }
  return text;
}

std::string title(const Change& c) {
  if (c.what != What::kRule || c.kind == "rule") return c.name;
  return c.kind + (c.name.empty() ? "" : " of " + c.name) + (c.phase.empty() ? "" : " in phase " + c.phase);
}

std::string detail(const Change& c) {
  std::string text = c.sentence;
  if (c.p) {
    text += (text.empty() ? "p = " : ", p = ") + rounded_text(*c.p, 2);
  }
  return text;
}

std::string scope(const Comparison& c) {
  std::string text = plural(c.ranks, "rank") + ", " + plural(c.steps, c.unit);
  if (c.names > 0) text += ", " + plural(c.names, "name") + " counted, " + plural(c.times, "time") + " tested";
  if (c.rules > 0) text += ", " + plural(c.rules, "rule");
  return text;
}

std::vector<const Change*> shown(const Comparison& comparison) {
  std::vector<const Change*> list;
  for (const Change& c : comparison.changes) {
    if (c.verdict != Verdict::kSame) list.push_back(&c);
  }
  return list;
}

std::string notes(const Comparison& c, const char* start) {
  std::string text;
  if (!c.not_compared.empty()) {
    text += start + std::string("not counted, because the number of calls depends on timing: ");
    for (const std::string& name : c.not_compared)
      text += (&name == &c.not_compared.front() ? "" : ", ") + printable(name);
    text += "\n";
  }
  for (const std::string& note : c.notes) text += start + printable(note) + "\n";
  return text;
}

std::string cut(const std::string& name) {
  if (name.size() <= kWidestName) return name;
  // Keeps the end of the name as well: template arguments distinguish kernels.
  std::size_t head = kWidestName * 2 / 3, tail = name.size() - (kWidestName - head - 3);
  const auto inside = [&](std::size_t i) { return (static_cast<unsigned char>(name[i]) & 0xC0) == 0x80; };
  while (head > 0 && inside(head)) --head;
  while (tail < name.size() && inside(tail)) ++tail;
  return name.substr(0, head) + "..." + name.substr(tail);
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c == '`' ? '\'' : c;
  }
  return out;
}

}  // namespace

std::string compare_headline(const Comparison& comparison) {
  std::array<std::size_t, 3> failed{};
  for (const Change& c : comparison.changes) {
    failed[static_cast<std::size_t>(c.what)] += c.verdict == Verdict::kRegression;
  }
  std::string text;
  for (const What what : {What::kRule, What::kCount, What::kTime}) {
    if (const std::size_t n = failed[static_cast<std::size_t>(what)]; n > 0) {
      text += (text.empty() ? "" : ", ") + plural(n, word(what));
    }
  }
  const std::size_t sum = failed[0] + failed[1] + failed[2];
  return sum == 0 ? "no regression" : plural(sum, "regression") + ": " + text;
}

std::string compare_text(const Comparison& comparison) {
  const auto list = shown(comparison);
  using Cells = std::array<std::string, 6>;
  std::vector<Cells> rows;
  if (!list.empty()) rows.push_back({"", "what", "name", "per " + comparison.unit, "ranks", "steps, remarks"});
  for (const Change* c : list) {
    const std::string remarks = c->steps + (c->steps.empty() || detail(*c).empty() ? "" : "; ") + detail(*c);
    rows.push_back({std::string(word(c->verdict)), c->what == What::kRule ? "rule" : c->kind, cut(printable(title(*c))),
                    c->before || c->after ? change_text(*c) : "", printable(c->ranks), printable(remarks)});
  }
  std::array<std::size_t, 6> widths{};
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) text += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    text += row.back() + "\n";
  }
  return text + notes(comparison, "") + scope(comparison) + ": " + compare_headline(comparison) + "\n";
}

std::string compare_json(const Comparison& comparison) {
  JsonWriter json;
  json.open_object().member("failed", comparison.failed()).member("headline", compare_headline(comparison));
  json.member("unit", comparison.unit).member("ranks", comparison.ranks).member("steps", comparison.steps);
  json.member("names", comparison.names).member("times", comparison.times).member("rules", comparison.rules);
  json.line(1).list("not_compared", comparison.not_compared).line(1).list("notes", comparison.notes);
  json.line(1).key("changes").open_list();
  for (const Change& c : comparison.changes) {
    json.line(2).open_object().member("verdict", c.verdict == Verdict::kRegression ? "regression" : word(c.verdict));
    json.member("what", word(c.what)).member("kind", c.kind).member("name", c.name);
    if (!c.phase.empty()) json.member("phase", c.phase);
    json.member("before", c.before).member("after", c.after).member("ranks", c.ranks).member("steps", c.steps);
    json.member("p", c.p).member("sentence", c.sentence).close_object();
  }
  return json.close_list().close_object().text() + "\n";
}

std::string compare_markdown(const Comparison& comparison, const std::string& heading) {
  std::string text = "### profshim compare: " + compare_headline(comparison) + "\n\n";
  text += "`" + cell(heading) + "`\n\n";
  const auto list = shown(comparison);
  if (!list.empty())
    text += "| | what | name | per " + comparison.unit + " | ranks | steps | |\n|---|---|---|---|---|---|---|\n";
  for (const Change* c : list) {
    text += "| " + std::string(c->verdict == Verdict::kRegression ? "**regression**" : word(c->verdict)) + " | " +
            (c->what == What::kRule ? "rule" : c->kind) + " | `" + cell(title(*c)) + "` | " +
            (c->before || c->after ? change_text(*c) : "") + " | " + c->ranks + " | " + c->steps + " | " +
            cell(detail(*c)) + " |\n";
  }
  return text + (list.empty() ? "" : "\n") + notes(comparison, "- ") + "\n" + scope(comparison) + "\n";
}

std::string compare_junit(const Comparison& comparison) {
  std::string cases;
  std::size_t tests = 0, failures = 0, skipped = 0;
  const auto add = [&](const Change* c, std::string_view group, const std::string& name) {
    ++tests;
    cases += "  <testcase classname=\"profshim.compare." + std::string(group) + "\" name=\"" + xml(name) + "\"";
    if (c != nullptr && c->verdict == Verdict::kRegression) {
      ++failures;
      const std::string values = c->before || c->after ? change_text(*c) : "";
      const std::string why = values + (values.empty() || detail(*c).empty() ? "" : "; ") + detail(*c);
      cases += ">\n    <failure message=\"" + xml(why) + "\">" +
               xml(c->kind + " " + title(*c) + ": " + why + (c->ranks.empty() ? "" : "; ranks " + c->ranks) +
                   (c->steps.empty() ? "" : "; " + c->steps)) +
               "</failure>\n  </testcase>\n";
    } else if (c != nullptr && c->verdict == Verdict::kCannotTell) {
      ++skipped;
      cases += ">\n    <skipped message=\"" + xml(detail(*c)) + "\"/>\n  </testcase>\n";
    } else {
      cases += "/>\n";
    }
  };
  const auto any = [&](What what) {
    return std::any_of(comparison.changes.begin(), comparison.changes.end(), [&](const Change& c) {
      return c.what == what && (c.verdict == Verdict::kRegression || c.verdict == Verdict::kCannotTell);
    });
  };
  if (comparison.names > 0 && !any(What::kCount)) add(nullptr, "count", plural(comparison.names, "name"));
  if (comparison.times > 0 && !any(What::kTime)) add(nullptr, "time", plural(comparison.times, "time"));
  for (const Change& c : comparison.changes) {
    const bool counts = c.verdict == Verdict::kRegression || c.verdict == Verdict::kCannotTell;
    if (c.what == What::kRule || counts) {
      const bool placed = c.what == What::kRule && c.kind != "rule";
      add(&c, word(c.what), title(c) + (placed ? " (" + c.sentence.substr(0, c.sentence.find(": ")) + ")" : ""));
    }
  }
  char head[160];
  std::snprintf(head, sizeof head, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", tests, failures,
                skipped);
  return std::string("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites") + head +
         ">\n <testsuite name=\"profshim compare\"" + head + ">\n" + cases + " </testsuite>\n</testsuites>\n";
}

}  // namespace profshim::cli
