#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "profshim/trace/reader.h"
#include "sample_trace.h"

namespace profshim {
namespace {

using test::MemorySink;

std::string unzip(const std::string& packed) {
  z_stream stream{};
  inflateInit2(&stream, MAX_WBITS + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::string part(1 << 20, '\0');
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(part, 0, part.size() - stream.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return text;
}

std::string sample_text(std::size_t size) {
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < size) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    text += "{\"ts\":" + std::to_string(state >> 40) + "},\n";
  }
  text.resize(size);
  return text;
}

std::string zip(const std::string& text, int level, int threads, std::size_t piece) {
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<MemorySink>(packed), level, threads);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    EXPECT_TRUE(sink->write(text.data() + at, std::min(piece, text.size() - at)));
  }
  EXPECT_TRUE(sink->close());
  return packed;
}

class GzipSink : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, GzipSink, testing::Values(0, 1, 2, 5));

TEST_P(GzipSink, GivesBackTheSameBytes) {
  constexpr std::size_t kBlock = 256 * 1024;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 20 * kBlock + 7}) {
    const std::string text = sample_text(size);

    EXPECT_EQ(unzip(zip(text, 1, GetParam(), 100'000)), text) << size;
  }
}

TEST_P(GzipSink, WritesTheSameFileHoweverManyThreads) {
  const std::string text = sample_text(3'000'000);

  EXPECT_EQ(zip(text, 6, GetParam(), 1 << 16), zip(text, 6, 0, 1 << 20));
}

TEST_P(GzipSink, AFullDiskIsReportedAndNothingHangs) {
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<MemorySink>(packed, 200'000), 1, GetParam());
  const std::string text = sample_text(1 << 20);

  bool ok = true;
  for (int i = 0; i < 40 && ok; ++i) ok = sink->write(text.data(), text.size());

  EXPECT_FALSE(ok);
  EXPECT_FALSE(sink->write("x", 1));
  EXPECT_FALSE(sink->close());
}

TEST_P(GzipSink, MayBeThrownAwayUnfinished) {
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<MemorySink>(packed), 1, GetParam());
  const std::string text = sample_text(2'000'000);

  EXPECT_TRUE(sink->write(text.data(), text.size()));
}

TEST(GzipSink, CompressesOnTheCallersThreadWhenThereAreNoThreadsToBeHad) {
  // A child lowers RLIMIT_NPROC, because only root can raise it again. The limit does not bind root.
  const std::string text = sample_text(1'000'000);
  const auto without_threads = [&] {
    const rlimit none = {0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || (getuid() == 0 && setuid(65534) != 0)) _exit(2);
    pthread_t thread;
    if (pthread_create(
            &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0)
      _exit(3);
    _exit(unzip(zip(text, 1, 4, 4096)) == text ? 0 : 1);
  };

  EXPECT_EXIT(without_threads(), testing::ExitedWithCode(0), "");
}

TEST(GzipSink, ATraceWrittenThroughItIsRead) {
  const test::SampleOptions options;
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<MemorySink>(packed), 1, 2);
  TraceWriter writer(*sink, test::sample_header(options));
  test::SampleWriter(writer, options).write_all();
  EXPECT_TRUE(writer.finish());
  EXPECT_TRUE(sink->close());

  const ReadResult result = read_trace_bytes(packed, {});

  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.events, writer.events());
  EXPECT_EQ(result.bytes, writer.bytes());
}

}  // namespace
}  // namespace profshim
