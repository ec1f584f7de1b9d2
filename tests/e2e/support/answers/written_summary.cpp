#include "written_summary.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

void expect_the_same(const rapidjson::Value& window, const std::string& trace) {
  const bool has_table = window.HasMember("table");
  std::vector<std::string> command = {"summary", "--kernels", "--steps", "--comms", "--json", trace};
  if (has_table) command.emplace_back("--table");
  const Outcome summary = profshim(command);
  if (window.HasMember("left_out")) {
    const std::string why = window["left_out"].GetString();
    const bool is_large = why.starts_with("its events need more memory");
    EXPECT_EQ(summary.ending(), is_large ? "exit 0" : "exit 2") << trace << ": " << why;
    return;
  }
  rapidjson::Document read;
  read.Parse(summary.out.c_str());
  ASSERT_TRUE(read.IsObject()) << summary.err << summary.out;
  if (has_table) read["table"].RemoveMember("files");
  for (const auto& member : read.GetObject()) {
    ASSERT_TRUE(window.HasMember(member.name)) << member.name.GetString() << " of " << trace;
    rapidjson::Document written;
    written.CopyFrom(window[member.name], written.GetAllocator());
    if (written.HasMember("files")) written.RemoveMember("files");
    EXPECT_TRUE(written == member.value) << member.name.GetString() << " of " << trace << "\n" << summary.out;
  }
}

}  // namespace

int expect_written_summaries(const std::string& folder) {
  int compared = 0;
  for (const std::string& file : files_below(folder)) {
    if (!file.starts_with("summary-rank") && file.find("/summary-rank") == std::string::npos) continue;
    const std::string text = text_of_file(folder + "/" + file),
                      parent = (folder + "/" + file).substr(0, (folder + "/" + file).rfind('/'));
    rapidjson::Document summary;
    summary.Parse(text.c_str());
    EXPECT_TRUE(summary.IsObject()) << text;
    if (!summary.IsObject()) continue;
    for (const rapidjson::Value& window : summary["windows"].GetArray()) {
      const std::string trace = parent + "/" + window["file"].GetString();
      expect_the_same(window, trace);
      ++compared;
    }
  }
  EXPECT_EQ(compared, static_cast<int>(traces_below(folder).size())) << folder;
  return compared;
}

}  // namespace profshim::e2e
