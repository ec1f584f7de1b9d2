#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "convert/parquet/batch.h"
#include "convert/parquet/file_info.h"
#include "unit/temporary_folder.h"

namespace profshim::test {
namespace {

using convert_detail::Batch;
using convert_detail::Column;
using convert_detail::ColumnId;
using convert_detail::FileInfo;

const Column& column(const Batch& batch, ColumnId id) { return batch.column(static_cast<std::size_t>(id)); }

template <class Number>
std::vector<Number> numbers(std::string_view bytes) {
  std::vector<Number> result(bytes.size() / sizeof(Number));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST(Parquet, UnsetValuesAreNull) {
  Batch batch;
  for (int row = 0; row < 10; ++row) {
    if (row % 3 == 0) batch.set(ColumnId::kBytes, row * 100);
    batch.end_row();
  }

  const Column& bytes = column(batch, ColumnId::kBytes);
  EXPECT_EQ(numbers<std::uint8_t>(bytes.validity(10)), (std::vector<std::uint8_t>{0b01001001, 0b10}));
  EXPECT_EQ(numbers<std::int64_t>(bytes.values(10))[9], 900);
  EXPECT_TRUE(column(batch, ColumnId::kStream).is_empty());
}

TEST(Parquet, DictionaryTextsAreStoredOnce) {
  Batch batch;
  for (const char* name : {"a", "bc", "a"}) {
    batch.set(ColumnId::kName, name);
    batch.set(ColumnId::kArgs, name);
    batch.end_row();
  }

  const Column& names = column(batch, ColumnId::kName);
  EXPECT_EQ(names.text(), "abc");
  EXPECT_EQ(numbers<std::int32_t>(names.text_offsets()), (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(numbers<std::int32_t>(names.values(3)), (std::vector<std::int32_t>{0, 1, 0}));
  const Column& args = column(batch, ColumnId::kArgs);
  EXPECT_EQ(args.text(), "abca");
  EXPECT_EQ(numbers<std::int32_t>(args.values(3)), (std::vector<std::int32_t>{0, 1, 3, 4}));
}

TEST(Parquet, ClearRemovesAllRows) {
  Batch batch;
  batch.set(ColumnId::kBytes, 5);
  batch.set(ColumnId::kName, "old");
  batch.end_row();

  batch.clear();
  batch.set(ColumnId::kName, "new");
  batch.end_row();

  EXPECT_TRUE(column(batch, ColumnId::kBytes).is_empty());
  EXPECT_EQ(numbers<std::uint8_t>(column(batch, ColumnId::kBytes).validity(1))[0], 0);
  EXPECT_EQ(column(batch, ColumnId::kName).text(), "new");
}

FileInfo facts_of(const std::string& trace) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  std::ofstream(path) << trace;
  return convert_detail::read_file_info(path);
}
constexpr char kStep[] =
    R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#11","pid":64,"tid":64,"ts":1.0,"dur":2.0})";

ReadEvent of_process(std::int64_t pid) {
  ReadEvent event;
  event.pid_is_number = true;
  event.pid = pid;
  return event;
}

TEST(Parquet, AnEventBelongsToTheStepInWhichItBegins) {
  const FileInfo facts = facts_of(std::string(R"({"profshim": {"window": 2}, "traceEvents": [)") + kStep + "]}");

  EXPECT_EQ(facts.window, 2);
  EXPECT_FALSE(facts.has_wall_clock);
  const auto* const rank = facts.rank_of(of_process(0));
  ASSERT_NE(rank, nullptr);
  EXPECT_EQ(facts.step_at(*rank, 999), std::nullopt);
  EXPECT_EQ(facts.step_at(*rank, 1000), 11);
  EXPECT_EQ(facts.step_at(*rank, 2999), 11);
  EXPECT_EQ(facts.step_at(*rank, 3000), std::nullopt);
}

TEST(Parquet, EventsOfAMergedTraceHaveTheRankOfTheirProcess) {
  const FileInfo facts = facts_of(std::string(R"({"distributedInfo": {"rank": 0}, "traceEvents": [)") + kStep +
                                  R"(], "profshim": {"merged": [{"rank": 0, "host": "a", "first_pid": 0},)" +
                                  R"({"rank": 5, "host": "b", "first_pid": 1000}]}})");

  EXPECT_EQ(facts.rank_of(of_process(3))->rank, 0);
  EXPECT_EQ(facts.rank_of(of_process(1064))->rank, 5);
  EXPECT_EQ(facts.rank_of(of_process(1064))->host, "b");
  EXPECT_TRUE(facts.rank_of(of_process(1064))->steps.empty());
  EXPECT_EQ(facts.rank_of(ReadEvent{}), nullptr);
}

}  // namespace
}  // namespace profshim::test
