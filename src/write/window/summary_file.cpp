#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <string_view>

#include "profshim/base/atomic_file.h"
#include "profshim/base/files.h"
#include "profshim/json.h"
#include "profshim/json/writer.h"
#include "profshim/write/publish.h"

namespace profshim::write {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::string_view kStart = R"({"format":1,"rank":)", kLeftOut = "older_windows_left_out", kEnd = "]}\n";

/// Each window is a line, so that a window can be added without reading the others.
struct SummaryText {
  std::uint64_t left_out = 0;
  std::deque<std::string> windows;  // without the comma

  explicit SummaryText(std::string_view text) {
    const std::size_t head = text.find('\n');
    if (!text.starts_with(kStart) || !text.ends_with(kEnd) || head == std::string_view::npos) return;
    read_left_out(text.substr(0, head));
    text = text.substr(head + 1, text.size() - kEnd.size() - head - 1);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with(',')) line.remove_suffix(1);
      windows.emplace_back(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void add(const SummaryEntry& entry) {
    const std::string start =
        JsonWriter(JsonWriter::Layout::kCompact).open_object().key("file").bytes(entry.file).text() + ",";
    std::erase_if(windows, [&](const std::string& window) { return window.starts_with(start); });
    windows.push_back(start + entry.answers + "}");
  }

  std::string text(int rank) const {
    JsonWriter json(JsonWriter::Layout::kCompact);
    json.open_object().member("format", 1).member("rank", rank).member(kLeftOut, left_out);
    std::string result = json.key("windows").open_list().text() + "\n";
    for (const std::string& window : windows) {
      if (&window != &windows.front()) result += ",\n";
      result += window;
    }
    return (result += '\n') += kEnd;
  }

 private:
  void read_left_out(std::string_view head) {
    const std::string number = json_part(std::string(head) + "]}", kLeftOut);
    std::from_chars(number.data(), number.data() + number.size(), left_out);
  }
};

}  // namespace

int add_to_summary(const std::string& folder, int folder_fd, int rank, const std::vector<SummaryEntry>& entries) {
  const std::string name = "summary-rank" + std::to_string(rank) + ".json";
  std::string old;
  int error = 0;
  const Descriptor opened(folder_fd < 0 ? open_folder(folder).release() : -1);
  read_small_file(name, 2 * kMostBytes, old, error, nullptr, folder_fd < 0 ? opened.get() : folder_fd);
  SummaryText summary(old);
  for (const SummaryEntry& entry : entries) summary.add(entry);
  std::size_t bytes = 0;
  for (const std::string& window : summary.windows) bytes += window.size() + 2;
  while (bytes > kMostBytes && summary.windows.size() > 1) {
    bytes -= summary.windows.front().size() + 2;
    summary.windows.pop_front();
    ++summary.left_out;
  }
  AtomicFile out;
  const std::string text = summary.text(rank);
  const bool whole = out.open(folder, name, folder_fd) && out.write(text.data(), text.size()) &&
                     out.publish(AtomicFile::Existing::kReplace);
  return whole ? 0 : std::max(out.error(), 1);
}

}  // namespace profshim::write
