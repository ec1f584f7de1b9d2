#include "layout.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/core/loader/resolve.h"
#include "profshim/base/text/number_text.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "profshim/trace/schema.h"

namespace profshim::torch {
namespace {

struct Row {
  int major, first_minor, last_minor;
  Layout layout;
};

// Layouts with the newer ABI of std::string, which PyPI's packages use since 2.6, Debian's and "cxx11" archives always.
constexpr Row kRows[] = {
    {1, 13, 13, {200, 208, 72, 168, 176, 182, 24, 88, 8, 12, 17}},
    {2, 0, 0, {200, 208, 72, 168, 176, 182, 24, 88, 8, 12, 18}},
    {2, 1, 2, {200, 208, 72, 168, 176, 182, 24, 88, 9, 13, 19}},
    {2, 3, 8, {200, 208, 64, 160, 168, 174, 16, 80, 9, 13, 19}},
    {2, 9, 12, {200, 208, 64, 160, 168, 174, 16, 80, 10, 14, 20}},
    {2, 13, 15, {200, 208, 56, 152, 160, 166, 16, 80, 10, 14, 20}},
};
/// In the older ABI, the std::string in at::RecordFunction is this many bytes shorter.
constexpr std::uint16_t kOlderStringSaves = 24;

/// Exported only with the newer ABI.
constexpr char kNewerAbi[] = "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE";

constinit std::atomic<const Layout*> known{nullptr};

bool read_text_after(const char* path, const char* before, char* text, std::size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char content[1024];
  const ssize_t length = read(file, content, sizeof content - 1);
  close(file);
  if (length <= 0) return false;
  content[length] = 0;
  const char* const at = std::strstr(content, before);
  if (at == nullptr) return false;
  const char* const begin = at + std::strlen(before);
  const std::size_t found = std::strcspn(begin, "'\"\n");
  if (found == 0 || found >= size) return false;
  std::memcpy(text, begin, found);
  text[found] = 0;
  return true;
}

}  // namespace

bool release_of(const char* library, char* text, std::size_t size) {
  const char* const slash = std::strrchr(library, '/');
  if (slash == nullptr) return false;
  char path[4200];
  const auto beside = [&](const char* name) {
    const int n = std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(slash - library), library, name);
    return n > 0 && static_cast<std::size_t>(n) < sizeof path;
  };
  if (beside("../version.py") && read_text_after(path, "__version__ = '", text, size)) return true;
  if (beside("../build-version") && read_text_after(path, "", text, size)) return true;
  char real[4096];
  if (realpath(library, real) == nullptr) return false;
  const char* const version = std::strstr(real, ".so.");
  if (version == nullptr || std::strlen(version + 4) >= size) return false;
  std::strcpy(text, version + 4);
  return true;
}

bool layout_of(const char* release, bool cxx11, Layout& layout) {
#if defined(__x86_64__)
  int major = 0, minor = 0;
  std::string_view text = release;
  if (!take_number(text, major) || !take_character(text, '.') || !take_number(text, minor)) return false;
  for (const Row& row : kRows) {
    if (row.major != major || minor < row.first_minor || minor > row.last_minor) continue;
    layout = row.layout;
    if (!cxx11) {
      layout.sequence -= kOlderStringSaves;
      layout.inputs -= kOlderStringSaves;
    }
    return true;
  }
#else
  static_cast<void>(release), static_cast<void>(cxx11), static_cast<void>(layout);
#endif
  return false;
}

const Layout* known_layout() { return known.load(std::memory_order_relaxed); }

namespace {

void report(const char* sentence) {
  const auto say = session::may_show_inputs() ? recorder::missing : recorder::problem;
  say("torch", sentence);
}

}  // namespace

void find_layout(const void* address) {
  static Layout layout;
  Dl_info library{};
  if (dladdr(address, &library) == 0 || library.dli_fname == nullptr) return;
  char release[64], text[192];
  if (!release_of(library.dli_fname, release, sizeof release)) {
    report(
        "the release of PyTorch is unknown (no version.py or build-version in its folder): its operators have names "
        "and times only");
    return;
  }
  std::snprintf(text, sizeof text, "\"%s\"", release);
  recorder::add_metadata(schema::ours::kTorchVersion, text);
  if (layout_of(release, inject::resolve_in(kNewerAbi, Layer::kTorch) != nullptr, layout)) {
    known.store(&layout, std::memory_order_release);
    return;
  }
  std::snprintf(
      text, sizeof text,
      "PyTorch %s is not a supported release (1.13 to 2.15 on x86-64): its operators have names and times only",
      release);
  report(text);
}

}  // namespace profshim::torch
