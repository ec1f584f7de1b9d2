#include "device/cupti/cupti_dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "device/capture/converter.h"
#include "unit/temporary_folder.h"

namespace profshim::device {
namespace {

constexpr std::size_t kStride = 256;  // longer than our structs, as in newer CUPTI releases

int next_of_stride(std::uint8_t* buffer, std::size_t valid, cupti::Record** record) {
  auto* const at = reinterpret_cast<std::uint8_t*>(*record);
  std::uint8_t* const next = at == nullptr ? buffer : at + kStride;
  if (next + kStride > buffer + valid) return cupti::kMaxLimitReached;
  *record = reinterpret_cast<cupti::Record*>(next);
  return cupti::kSuccess;
}

std::vector<std::uint64_t> kernels(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> words(names.size() * kStride / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto* const kernel = reinterpret_cast<cupti::KernelRecord*>(reinterpret_cast<char*>(words.data()) + i * kStride);
    const std::uint32_t kind = cupti::kConcurrentKernelKind;
    std::memcpy(static_cast<void*>(kernel), &kind, sizeof kind);
    kernel->correlation = static_cast<std::uint32_t>(100 + i);
    kernel->name = names[i].c_str();
  }
  return words;
}

class Counting final : public EventOutput {
 public:
  void put(const Event& event, const Event* continuation) override {
    if (event.hook != HookId::kKernel) return;
    ++kernels;
    nameless += event.name == 0 || continuation == nullptr ? 1 : 0;
  }
  StringId text(const char* text) override { return text != nullptr && *text != 0 ? 1 : 0; }
  void define(spool::DefinitionKind, std::uint32_t, std::string_view, std::string_view,
              std::initializer_list<std::int64_t>) override {}
  int kernels = 0, nameless = 0;
};

class RecordingTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/deep/cupti-" + std::to_string(getpid()) + ".bin"; }
  void record(const std::vector<std::vector<std::string>>& buffers) {
    CuptiApi api;
    api.next_record = next_of_stride;
    const ActivityScope scope(api);
    RecordingFile file(folder_.path() + "/deep", 130001);
    for (const std::vector<std::string>& names : buffers) {
      std::vector<std::uint64_t> words = kernels(names);
      file.append(scope, {reinterpret_cast<std::uint8_t*>(words.data()), words.size() * sizeof words[0]});
    }
  }
  test::TemporaryFolder folder_;
};

TEST_F(RecordingTest, RecordsAreReadAgainWithTheirNames) {
  record({{"_Z5alphav", "_Z4betav"}, {}, {"_Z5gammav"}});
  const auto recording = Recording::read(path());
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->version(), 130001u);
  std::vector<std::string> names;
  for (const BufferPool::Filled& buffer : recording->buffers()) {
    cupti::Record* at = nullptr;
    while (Recording::next_record(buffer.data, buffer.valid, &at) == cupti::kSuccess) {
      const auto& kernel = *reinterpret_cast<const cupti::KernelRecord*>(at);
      names.push_back(std::to_string(kernel.correlation) + " " + kernel.name);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"100 _Z5alphav", "101 _Z4betav", "100 _Z5gammav"}));
}

TEST_F(RecordingTest, ADamagedFileIsRejected) {
  record({{"_Z5alphav"}});
  std::ifstream in(path(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path(), std::ios::binary) << whole.substr(0, size);
    // A file of only the 20-byte head is valid.
    EXPECT_EQ(Recording::read(path()) != nullptr, size == 20) << size;
  }
  EXPECT_EQ(Recording::read(folder_.path() + "/none"), nullptr);
}

}  // namespace
}  // namespace profshim::device
