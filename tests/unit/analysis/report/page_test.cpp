#include <gtest/gtest.h>

#include <limits>

#include "profshim/analysis/report.h"

namespace profshim {
namespace {

constexpr char kHostile[] = "</script><img src=x onerror=alert(1)>\"'&\x01\x7f{{js}}";

Report hostile_report() {
  Report report;
  report.title = kHostile;
  report.overview = {{"Command", kHostile}};
  report.verdict = {{ReportFinding::Level::kBad, kHostile}};
  report.warnings = {kHostile};
  ReportSection section{.key = "steps", .title = kHostile, .notes = {kHostile}};
  section.plots = {{.key = "plot",
                    .title = kHostile,
                    .label_axis = kHostile,
                    .labels = {kHostile, "2"},
                    .series = {{.label = kHostile, .values = {1, std::numeric_limits<double>::quiet_NaN()}}}}};
  section.heat_maps = {{.key = "map", .title = kHostile, .rows = {kHostile}, .columns = {kHostile}, .values = {{1}}}};
  section.tables = {
      {.key = "t", .title = kHostile, .columns = {{"name", kHostile}}, .rows = {{std::string(kHostile)}}}};
  report.sections = {section};
  Report group;
  group.title = kHostile;
  group.overview = report.overview;
  group.verdict = report.verdict;
  group.sections = report.sections;
  report.groups = {group, group};
  return report;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(ReportPage, TextsOfTracesAreEscapedEverywhere) {
  const std::string page = report_page(hostile_report()), plain = report_page({});

  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
  EXPECT_EQ(count(page, "{{js}}"), count(page, "{{"));  // text with {{js}} is not expanded
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&#9217;&#9249;"),
            std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
}

TEST(ReportPage, APlotHasATableOfItsNumbers) {
  Report report;
  report.sections = {
      {.key = "s",
       .plots = {{.key = "p",
                  .title = "Plot",
                  .label_axis = "Step",
                  .labels = {"4", "5"},
                  .series = {{.label = "rank 0", .values = {1500, std::numeric_limits<double>::quiet_NaN()}}}}}}};

  const std::string page = report_page(report);

  EXPECT_NE(page.find("\"values\":[1500,null]"), std::string::npos);
  EXPECT_NE(page.find("<th class=\"text\">Step</th><th>rank 0 (ms)</th>"), std::string::npos);
  EXPECT_NE(page.find(">4</td><td>1.500</td></tr>"), std::string::npos);
  EXPECT_NE(page.find(">5</td><td>-</td></tr>"), std::string::npos);
}

TEST(ReportPage, LongTextIsCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "ä";
  Report report;
  report.sections = {{.key = "s", .tables = {{.key = "t", .columns = {{"name", "Name"}}, .rows = {{"x" + name}}}}}};

  const std::string page = report_page(report);

  EXPECT_NE(page.find("ä…</td>"), std::string::npos);
  EXPECT_LT(page.size(), report_page({}).size() + 3000);
}

TEST(ReportPage, OnlyZeroIsShownAsZero) {
  Report report;
  report.sections = {{.key = "s",
                      .tables = {{.key = "t",
                                  .columns = {{"a", "Time", Unit::kTime}, {"b", "Events"}},
                                  .rows = {{2e6, std::int64_t{1234567}}, {0.01, std::int64_t{-12}}, {0.0, Cell()}}}}}};

  const std::string page = report_page(report);

  EXPECT_NE(page.find("<th>Time (s)</th>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>2.000</td><td>1\u202f234\u202f567</td></tr>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>&lt;0.001</td><td>-12</td></tr>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>0</td><td>-</td></tr>"), std::string::npos);
}

TEST(ReportPage, NothingIsLoadedFromElsewhere) {
  const std::string page = report_page(hostile_report());

  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* const what :
       {"<script src", "<link rel=\"stylesheet", "@import", "url(", "<iframe", "href=\"http"}) {
    EXPECT_EQ(page.find(what), std::string::npos) << what;
  }
  EXPECT_NE(page.find("Released under the MIT License"), std::string::npos);
}

}  // namespace
}  // namespace profshim
