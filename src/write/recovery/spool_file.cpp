#include "spool_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "profshim/base/clock.h"
#include "profshim/json/document.h"
#include "profshim/trace/schema.h"

namespace profshim::write {

constexpr off_t kCopiedAtOnce = 8 << 20;

SpoolFile::SpoolFile(std::string path, int folder_fd) : path_(std::move(path)), folder_fd_(folder_fd) {
  fd_ = open_regular(path_, found_, folder_fd_);
  if (!fd_) error_ = errno;
}

SpoolFile::~SpoolFile() {
  if (copy_ != nullptr) munmap(copy_, static_cast<std::size_t>(found_.st_size));
}

bool SpoolFile::lock() {
  // Any other error means that the file system has no locks.
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat now {};
  return fstat(fd_.get(), &now) == 0 && now.st_nlink > 0;
}

bool SpoolFile::read_at(std::uint64_t at, void* to, std::size_t size) const {
  return pread(fd_.get(), to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}

std::string SpoolFile::read_string(const spool::SpoolHeader& header, StringId id) const {
  spool::StringHeader text{};
  const std::uint64_t at = std::uint64_t{id} * 16;
  if (id == 0 || at + sizeof text > header.arena_bytes || !read_at(header.arena_at + at, &text, sizeof text)) return {};
  if (text.length > spool::kMaxName || text.length > header.arena_bytes - at - sizeof text) return {};
  std::string found(text.length, 0);
  return read_at(header.arena_at + at + sizeof text, found.data(), found.size()) ? found : std::string();
}

void SpoolFile::read_metadata(const spool::SpoolHeader& header, SpoolHead& head) const {
  constexpr std::uint64_t kMostRead = 1024;  // these are among the first
  std::vector<spool::Definition> definitions(
      std::min({header.definitions.load(), std::uint64_t{header.definition_count}, kMostRead}));
  if (!read_at(header.definitions_at, definitions.data(), definitions.size() * sizeof(spool::Definition))) return;
  for (const spool::Definition& one : definitions) {
    if (one.kind.load() != spool::DefinitionKind::kMetadata) continue;
    const std::string key = read_string(header, one.name);
    const JsonDocument value(read_string(header, one.text));
    if (key == schema::ours::kRunId) head.run_id = value.root().text();
    if (key == schema::ours::kSpecHash) head.spec_hash = value.root().text();
    if (key == schema::ours::kAttempt) head.attempt = value.root().small_integer(0);
  }
}

void SpoolFile::read_signs_of_life(const spool::SpoolHeader& header, SpoolHead& head) const {
  // As a sign of life, the process adds a clock anchor every second.
  std::vector<Anchor> anchors(std::min<std::uint64_t>(header.anchors.load(), spool::kMaxAnchors));
  if (!read_at(header.anchors_at, anchors.data(), anchors.size() * sizeof(Anchor))) anchors.clear();
  if (anchors.empty()) head.last_sign_ns = std::int64_t{found_.st_mtim.tv_sec} * 1'000'000'000;
  for (const Anchor& anchor : anchors) head.last_sign_ns = std::max(head.last_sign_ns, anchor.realtime_ns);
  head.began_ns = anchors.empty() ? head.last_sign_ns : anchors.front().realtime_ns;
}

bool SpoolFile::read_head(SpoolHead& head) const {
  alignas(spool::SpoolHeader) char bytes[sizeof(spool::SpoolHeader)];
  if (!fd_ || !read_at(0, bytes, sizeof bytes)) return false;
  const auto& h = *reinterpret_cast<const spool::SpoolHeader*>(bytes);
  if (std::memcmp(h.magic, spool::kMagic, sizeof h.magic) != 0 || h.version != spool::kFormatVersion) return false;
  if (!parse_identity(read_string(h, h.process), head.process)) {
    head.process = {};
    head.process.host = read_string(h, h.host);
    head.process.pid = h.pid;
    head.process.start_time = h.pid_start_time;
  }
  read_metadata(h, head);
  head.run_name = read_string(h, h.run_name);
  head.folder = read_string(h, h.folder);
  head.rank = h.rank;
  read_signs_of_life(h, head);
  return true;
}

// Skips holes: the new memory is zero.
bool SpoolFile::copy(const std::function<bool()>& give_up) {
  const auto size = static_cast<std::size_t>(found_.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  copy_ = memory;
  off_t at = 0;
  while ((at = lseek(fd_.get(), at, SEEK_DATA)) >= 0 && at < found_.st_size) {
    const off_t hole = lseek(fd_.get(), at, SEEK_HOLE);
    const off_t end = hole > at && hole < found_.st_size ? hole : found_.st_size;
    while (at < end) {
      if (give_up && give_up()) return false;
      const auto part = static_cast<std::size_t>(std::min<off_t>(end - at, kCopiedAtOnce));
      const ssize_t n = pread(fd_.get(), static_cast<char*>(memory) + at, part, at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
    }
  }
  return true;
}

std::unique_ptr<spool::View> SpoolFile::view(bool copied, const std::function<bool()>& give_up, std::string& why_not) {
  if (!copied) return spool::View::open(fd_.get(), why_not);
  if (found_.st_size <= 0 || !copy(give_up)) {
    why_not = "cannot be read into host memory";
    return nullptr;
  }
  return spool::View::in_memory(copy_, static_cast<std::size_t>(found_.st_size), why_not);
}

void SpoolFile::note_trace(std::uint64_t window_at, std::uint64_t inode) const {
  const Descriptor fd(openat_high(folder_fd_, path_.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat found {};
  if (!fd || fstat(fd.get(), &found) != 0 || found.st_dev != found_.st_dev || found.st_ino != found_.st_ino) return;
  (void)!pwrite(fd.get(), &inode, sizeof inode, static_cast<off_t>(window_at + offsetof(spool::Window, file)));
}

bool SpoolFile::remove() const {
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const Descriptor parent(openat_high(folder_fd_, folder.c_str(), O_PATH | O_DIRECTORY));
  return parent && remove_if_same(parent.get(), slash == std::string::npos ? path_ : path_.substr(slash + 1), found_);
}

}  // namespace profshim::write
