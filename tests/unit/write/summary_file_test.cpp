#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "profshim/json.h"
#include "profshim/write/publish.h"
#include "unit/not_under_tsan.h"

namespace profshim::write {
namespace {

class SummaryFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "profshim-summary-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  int add(const std::string& file, const std::string& answers) {
    return add_to_summary(folder_, -1, 3, {{file, answers}});
  }
  std::string path() const { return folder_ + "/summary-rank3.json"; }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path()).rdbuf();
    return all.str();
  }
  std::vector<std::string> windows() const { return json_elements(json_part(text(), "windows")); }

  std::string folder_;
};

TEST_F(SummaryFile, GetsALineForEachWindow) {
  EXPECT_EQ(add("a.json", R"("window":0,"kernels":{"a": [1, 2]})"), 0);
  EXPECT_EQ(add("b.json", R"("window":1)"), 0);

  EXPECT_EQ(text(),
            "{\"format\":1,\"rank\":3,\"older_windows_left_out\":0,\"windows\":[\n"
            "{\"file\":\"a.json\",\"window\":0,\"kernels\":{\"a\": [1, 2]}},\n"
            "{\"file\":\"b.json\",\"window\":1}\n"
            "]}\n");
  EXPECT_TRUE(valid_json(text()));
}

TEST_F(SummaryFile, HoldsTheNewestAnswersOfAFile) {
  add("a.json", R"("window":0)");
  add("a.json.gz", R"("window":1)");
  add("a.json", R"("window":2)");

  EXPECT_EQ(windows(),
            (std::vector<std::string>{R"({"file":"a.json.gz","window":1})", R"({"file":"a.json","window":2})"}));
}

TEST_F(SummaryFile, DropsAndCountsTheOldestBeyond16MiB) {
  NOT_UNDER_TSAN("one thread, and takes minutes");
  const std::string large = "\"text\":\"" + std::string(5 << 20, 'x') + "\"";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(add(std::to_string(i), large), 0);

  EXPECT_EQ(json_part(text(), "older_windows_left_out"), "2");
  ASSERT_EQ(windows().size(), 3u);
  EXPECT_EQ(json_part(windows()[0], "file"), "\"2\"");
  add("5", large);
  EXPECT_EQ(json_part(text(), "older_windows_left_out"), "3");
}

TEST_F(SummaryFile, StartsAnewAfterATextOfAnotherKind) {
  for (const char* const other : {"", "{}", "{\"windows\": [{\"file\":\"a\"}]}", "\n]}\n", "]}\n", "x\ny\n]}\n"}) {
    std::ofstream(path()) << other;
    EXPECT_EQ(add("b.json", R"("window":1)"), 0);
    EXPECT_TRUE(text().ends_with("{\"file\":\"b.json\",\"window\":1}\n]}\n")) << other << text();
  }
}

TEST_F(SummaryFile, TellsWhyItCannotBeWritten) {
  std::filesystem::create_directory(path());
  std::ofstream(path() + "/full");

  EXPECT_NE(add("a.json", R"("window":0)"), 0);
}

}  // namespace
}  // namespace profshim::write
