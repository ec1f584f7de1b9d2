#include "spool_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profshim/base/clock.h"

namespace profshim::output {

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

bool SpoolFile::read_process(ProcessIdentity& process, std::int64_t& last_sign_ns) const {
  // With mmap(), access would raise SIGBUS if another user truncates the file.
  alignas(spool::SpoolHeader) char bytes[sizeof(spool::SpoolHeader)];
  if (!fd_ || !read_at(0, bytes, sizeof bytes)) return false;
  const auto& h = *reinterpret_cast<const spool::SpoolHeader*>(bytes);
  if (std::memcmp(h.magic, spool::kMagic, sizeof h.magic) != 0 || h.version != spool::kFormatVersion) return false;
  if (!parse_identity(read_string(h, h.process), process)) {
    process = {};
    process.host = read_string(h, h.host);
    process.pid = h.pid;
    process.start_time = h.pid_start_time;
  }
  // As a sign of life, the process adds a clock anchor every second.
  std::vector<Anchor> anchors(std::min<std::uint64_t>(h.anchors.load(), spool::kMaxAnchors));
  if (!read_at(h.anchors_at, anchors.data(), anchors.size() * sizeof(Anchor))) anchors.clear();
  last_sign_ns = std::int64_t{found_.st_mtim.tv_sec} * 1'000'000'000;
  if (!anchors.empty()) last_sign_ns = 0;
  for (const Anchor& anchor : anchors) last_sign_ns = std::max(last_sign_ns, anchor.realtime_ns);
  return true;
}

// Skips holes: the new memory is zero.
bool SpoolFile::copy() {
  const auto size = static_cast<std::size_t>(found_.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  copy_ = memory;
  off_t at = 0;
  while ((at = lseek(fd_.get(), at, SEEK_DATA)) >= 0 && at < found_.st_size) {
    const off_t hole = lseek(fd_.get(), at, SEEK_HOLE);
    const off_t end = hole > at && hole < found_.st_size ? hole : found_.st_size;
    while (at < end) {
      const ssize_t n = pread(fd_.get(), static_cast<char*>(memory) + at, static_cast<std::size_t>(end - at), at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
    }
  }
  return true;
}

std::unique_ptr<spool::View> SpoolFile::view(bool copied, std::string& why_not) {
  if (!copied) return spool::View::open(fd_.get(), why_not);
  if (found_.st_size <= 0 || !copy()) {
    why_not = "cannot be read into host memory";
    return nullptr;
  }
  return spool::View::over(copy_, static_cast<std::size_t>(found_.st_size), why_not);
}

bool SpoolFile::remove() const {
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const Descriptor parent(openat_high(folder_fd_, folder.c_str(), O_PATH | O_DIRECTORY));
  return parent && remove_if_same(parent.get(), slash == std::string::npos ? path_ : path_.substr(slash + 1), found_);
}

}  // namespace profshim::output
