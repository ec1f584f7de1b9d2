#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "escape.h"
#include "parts.h"
#include "profshim/analysis/report.h"
#include "profshim/base/version.h"

extern "C" {
#define PART(name) extern const char profshim_part_##name[], profshim_part_##name##_end[];
PART(html) PART(css) PART(js) PART(library)
#undef PART
}

namespace profshim {
namespace {

using namespace analysis_detail;

#define PART(name) \
  std::string_view(profshim_part_##name, static_cast<std::size_t>(profshim_part_##name##_end - profshim_part_##name))

/// Replaces each {{key}} of `page`, but none in the inserted texts.
std::string filled(std::string_view page, const std::map<std::string, std::string, std::less<>>& texts) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{"), close = page.find("}}", open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out.append(page);
    out.append(page.substr(0, open));
    if (const auto at = texts.find(page.substr(open + 2, close - open - 2)); at != texts.end()) out += at->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace

std::string report_page(const Report& report) {
  std::map<std::string, std::string, std::less<>> texts = {
      {"title", escaped(report.title)},          {"version", std::string(kVersion)}, {"css", std::string(PART(css))},
      {"library", script_text(PART(library))},   {"js", script_text(PART(js))},      {"summary", summary_html(report)},
      {"plots", script_json(plots_json(report))}};
  texts["overview"] = overview_html(report);
  for (const ReportSection& section : report.sections) texts["sections"] += section_html(section);
  texts["sections"] += groups_html(report.groups);
  // Browsers run only scripts with this nonce, a hash of these texts: text in them, even unescaped, cannot contain it.
  char nonce[32];
  std::snprintf(nonce, sizeof nonce, "%016zx",
                std::hash<std::string>{}(texts["sections"] + texts["plots"] + texts["summary"]));
  texts["nonce"] = nonce;
  return filled(PART(html), texts);
}

}  // namespace profshim
