#include <gtest/gtest.h>

#include <string>

#include "profshim/analysis/views.h"

namespace profshim {
namespace {

TEST(ViewText, AlignsCutsAndSaysWhatIsMissing) {
  View view{.key = "v",
            .tables = {{.key = "rows",
                        .title = "Rows",
                        .columns = {{"rank", "Rank"}, {"name", "Name"}, {"total_us", "Total", Unit::kTime}},
                        .rows = {{std::int64_t{0}, "a", 1.5},
                                 {std::int64_t{0}, "b\x1b", 2500.0},
                                 {std::int64_t{0}, "c", 1.0},
                                 {std::int64_t{1}, std::string(60, 'n'), {}}},
                        .limit_each = true}}};

  limit_rows(view, 2);

  EXPECT_EQ(view_text(view, ""),
            "Rows\n"
            "Rank  Name                                                       Total\n"
            "----  -------------------------------------------------------  -------\n"
            "   0  a                                                        1.500us\n"
            "   0  b\\x1b                                                    2.500ms\n"
            "   1  " +
                std::string(52, 'n') +
                "...        -\n\n"
                "Rows: 3 of 4 rows; --row-limit -1 shows all\n");
  EXPECT_EQ(view_csv(view),
            "rank,name,total_us\n0,\"a\",1.500\n0,\"b\x1b\",2500.000\n1,\"" + std::string(60, 'n') + "\",\n");
  EXPECT_NE(view_json(view).find("{\"rank\": 0, \"name\": \"a\", \"total_us\": 1.500}"), std::string::npos);
  EXPECT_NE(view_json(view).find("\"total_us\": null}"), std::string::npos);
}

TEST(ViewText, ShowsSmallRatesInSmallUnits) {
  const View view{.key = "v",
                  .tables = {{.key = "rows",
                              .title = "Rows",
                              .columns = {{"bus", "Bus", Unit::kRate}, {"bytes", "Size", Unit::kBytes}},
                              .rows = {{27.9621, std::int64_t{2048}}, {0.0006, 8.0}}}}};

  EXPECT_EQ(view_text(view, ""),
            "Rows\n"
            "        Bus     Size\n"
            "-----------  -------\n"
            "27.962 GB/s  2.00 KB\n"
            " 0.600 MB/s      8 B\n\n");
}

}  // namespace
}  // namespace profshim
