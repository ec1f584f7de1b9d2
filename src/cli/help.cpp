#include <unistd.h>

#include <cstdio>
#include <string>

#include "command.h"
#include "profshim/base/text/ascii.h"
#include "profshim/spec.h"

// An entry of profshim_pages, which pages.S defines.
struct Page {
  const char* name;
  const char* begin;
  const char* end;
};
extern "C" const Page profshim_pages[];

namespace profshim::cli {
namespace {

constexpr std::string_view kBold = "\033[1m", kUnderlined = "\033[4m", kPlain = "\033[0m";

bool is_word(char c) { return ascii::is_alphanumeric(c) || c == '_'; }

/// `line` is in the syntax of scdoc(5).
std::string rendered(std::string_view line, bool styled) {
  std::string out;
  bool bold = false, underlined = false;
  const auto toggle = [&](bool& on, std::string_view style) {
    on = !on;
    if (styled) out += on ? style : kPlain;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool inside_word = i > 0 && i + 1 < line.size() && is_word(line[i - 1]) && is_word(line[i + 1]);
    if (c == '\\' && i + 1 < line.size()) {
      out += line[++i];
    } else if (c == '*') {
      toggle(bold, kBold);
    } else if (c == '_' && !inside_word) {
      toggle(underlined, kUnderlined);
    } else if (c == '\t') {
      out += "    ";
    } else if (line.substr(i) == "++") {
      break;
    } else {
      out += c;
    }
  }
  return out;
}

/// `line` stands in a literal block of scdoc(5), where only a backslash is written twice.
std::string literal_text(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "\\\\") ++i;
    out += line[i];
  }
  return out;
}

void print_source(std::string_view source, bool styled) {
  source.remove_prefix(source.find('\n') + 2);
  bool literal = false;
  while (!source.empty()) {
    const std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(source.size(), line.size() + 1));
    if (line == "```") {
      literal = !literal;
    } else if (literal) {
      std::printf("        %s\n", literal_text(line).c_str());
    } else if (line.starts_with('#')) {
      const std::string heading(line.substr(line.find(' ') + 1));
      std::printf(line.starts_with("##") ? "  %s\n" : "%s\n",
                  styled ? (std::string(kBold) + heading + std::string(kPlain)).c_str() : heading.c_str());
    } else {
      std::printf("%s%s\n", line.empty() ? "" : "    ", rendered(line, styled).c_str());
    }
  }
}

void print_keys() {
  for (const KeyInfo& key : spec_keys()) {
    std::printf("\n    %s (%s)\n        %s\n        default: %s; values: %s%s%s\n", std::string(key.name).c_str(),
                std::string(key.type).c_str(), std::string(key.sentence).c_str(),
                std::string(key.default_value).c_str(), std::string(key.values).c_str(),
                key.short_forms.empty() ? "" : "; short: ", std::string(key.short_forms).c_str());
  }
}

}  // namespace

bool print_page(std::string_view name) {
  for (const Page* page = profshim_pages; page->name != nullptr; ++page) {
    if (name != page->name) continue;
    print_source({page->begin, page->end}, isatty(STDOUT_FILENO) == 1);
    if (name == "spec") print_keys();
    return true;
  }
  return false;
}

}  // namespace profshim::cli
