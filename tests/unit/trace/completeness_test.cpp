#include "profshim/trace/completeness.h"

#include <gtest/gtest.h>

#include <set>

#include "profshim/spool/format.h"
#include "profshim/trace/metadata.h"

namespace profshim {
namespace {

TEST(Completeness, TraceWithoutLossesIsComplete) { EXPECT_TRUE(missing_in({}).empty()); }

TEST(Completeness, EachKindOfLossMakesATraceIncomplete) {
  for (const LossRow& row : kLossRows) {
    // A part of dropped_events is said there.
    if (row.extent == LossExtent::kInDropped) continue;
    ASSERT_FALSE(row.sentence.empty()) << row.key;
    WindowLosses losses;

    losses.count(row.key, 17);

    ASSERT_EQ(missing_in(losses).size(), 1u) << row.key;
    EXPECT_EQ(missing_in(losses)[0], "17 " + std::string(row.sentence));
  }
}

TEST(Completeness, EachRowHasItsOwnKey) {
  std::set<std::string_view> keys;
  for (const LossRow& row : kLossRows) {
    if (!row.sentence.empty()) EXPECT_TRUE(keys.insert(row.key).second) << row.key;
  }
}

TEST(Completeness, EachCounterOfTheSpoolIsTheRowOfItsName) {
#define LOSS(counter, loss_key, loss_extent, loss_sentence)                    \
  EXPECT_EQ(kLossRows[static_cast<std::size_t>(Loss::counter)].key, loss_key); \
  EXPECT_EQ(kLossRows[static_cast<std::size_t>(Loss::counter)].sentence, loss_sentence);
#include "profshim/spool/losses.def"
}

TEST(Completeness, CutWindowAndOtherLossesAreSaid) {
  WindowLosses losses;
  losses.cut = "the job ended in this window";
  losses.others = {"native stacks are not recorded"};
  losses.count("dropped_events", 2);
  losses.count("early_events_lost", 3);

  const std::vector<std::string> missing = missing_in(losses);

  ASSERT_EQ(missing.size(), 4u);
  EXPECT_EQ(missing[0], losses.cut);
  EXPECT_EQ(missing[3], losses.others[0]);
  const std::vector<std::string> others = other_losses_in(losses);
  ASSERT_EQ(others.size(), 2u);
  EXPECT_TRUE(others[0].starts_with("3 ")) << others[0];
}

TEST(Completeness, LongListsAreCut) {
  EXPECT_EQ(missing_text({}), "");
  EXPECT_EQ(missing_text({"a", "b"}), "a; b");
  EXPECT_EQ(missing_text({"a", "b", "c"}, 1), "a and 2 more");
}

RecordingInfo read(const std::string& members) {
  TraceMetadata metadata;
  metadata.read("profshim", "{" + members + "}");
  return *metadata.recording;
}

TEST(Completeness, ReaderTakesTheTracesOwnList) {
  const RecordingInfo info = read(R"("complete": false, "missing": ["a", "b"], "dropped_events": 4)");

  EXPECT_FALSE(info.complete);
  EXPECT_EQ(info.missing, (std::vector<std::string>{"a", "b"}));
}

TEST(Completeness, ReaderDoesNotBelieveATraceThatLostEvents) {
  for (const char* loss : {"\"dropped_events\": 455209", "\"names_lost\": 23392", "\"definitions_lost\": 134470"}) {
    const RecordingInfo info = read("\"complete\": true, " + std::string(loss));

    EXPECT_FALSE(info.complete) << loss;
    EXPECT_EQ(info.missing.size(), 1u) << loss;
  }
  EXPECT_TRUE(read(R"("complete": true, "dropped_events": 0, "left_out": {"events": 5})").complete);
  EXPECT_FALSE(read(R"("complete": false)").complete);
}

}  // namespace
}  // namespace profshim
