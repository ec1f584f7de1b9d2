#include "spool_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/memory_room.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace profshim::recorder::spool_memory {
namespace {

constexpr std::uint64_t kGrowth = 4 << 20;
constexpr long kTmpfs = 0x01021994;
// Far from libraries, so that the mapping can grow. The second suits 39-bit address spaces.
constexpr std::uintptr_t kRoomyAddresses[] = {std::uintptr_t{1} << 40, std::uintptr_t{1} << 36};

struct Mapping {
  char* data = nullptr;
  std::size_t size = 0, mapped = 0;
  // No page of this part has memory before populate(), not even by mlockall().
  char *sparse_begin = nullptr, *sparse_end = nullptr;
  bool is_file = false;
  bool on_disk = false;
  bool grows = false;
};
constinit Mapping mapping;

std::string& file() {  // never destroyed: used during exit
  static std::string* const path = new std::string;
  return *path;
}

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::string reason(const std::string& what, int error) { return what + ": " + error_text(error); }

// A file that grows beyond RLIMIT_FSIZE raises SIGXFSZ, which ends the job.
bool file_size_allowed(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

/// After mlockall(MCL_FUTURE), mmap() gives memory to all pages at once, unless they are inaccessible.
void* map_unlocked(void* hint, std::uint64_t bytes, int flags, int fd) {
  void* const data = mmap(hint, bytes, PROT_NONE, flags | MAP_NORESERVE, fd, 0);
  if (data == MAP_FAILED) return nullptr;
  munlock(data, bytes);
  // In a core dump, the spool would take the room (ulimit -c) of the job's own memory.
  madvise(data, bytes, MADV_DONTDUMP);
  if (mprotect(data, bytes, PROT_READ | PROT_WRITE) == 0) return data;
  munmap(data, bytes);
  return nullptr;
}

/// Files and private memory can grow in place; shared anonymous memory cannot.
bool can_grow(int flags, int fd) { return fd >= 0 || (flags & MAP_SHARED) == 0; }

/// Extends a mapping that can grow and ends at `end`. Its place changes only if `how` has MREMAP_MAYMOVE.
void* grow(char* end, std::uint64_t bytes, int how) {
  const std::uintptr_t page = page_size();
  char* const last = end - page;
  // The job may have locked it meanwhile, and a locked mapping grows within RLIMIT_MEMLOCK only.
  munlock(last, page);
  void* const grown = mremap(last, page, page + bytes, how);
  return grown == MAP_FAILED ? nullptr : grown;
}

/// RLIMIT_MEMLOCK counts one page only if the mapping can grow.
void* map_at(void* hint, std::uint64_t bytes, int flags, int fd) {
  const std::uintptr_t page = page_size();
  const bool grows = can_grow(flags, fd);
  auto* const data = static_cast<char*>(map_unlocked(hint, grows ? page : bytes, flags, fd));
  if (data == nullptr || !grows) return data;
  void* const grown = grow(data + page, bytes - page, hint == nullptr ? MREMAP_MAYMOVE : 0);
  if (grown == nullptr) munmap(data, page);
  return grown;
}

/// Maps the first bytes only, so that mlockall(MCL_CURRENT) gives memory to no more, and so that little is mapped if
/// address space is scarce.
bool map_pages(std::uint64_t bytes, std::uint64_t first, int flags, int fd) {
  void* data = nullptr;
  std::uint64_t mapped = first;
  for (const std::uintptr_t address : kRoomyAddresses) {
    void* const hint = reinterpret_cast<void*>(address);
    data = map_at(hint, first, flags, fd);
    if (data == hint) break;
    if (data != nullptr) munmap(data, first);
    data = nullptr;
  }
  if (data == nullptr) {
    if (!address_space_is_scarce()) mapped = bytes;
    data = map_at(nullptr, mapped, flags, fd);
  }
  mapping = {static_cast<char*>(data), bytes, mapped, {}, {}, fd >= 0, false, can_grow(flags, fd)};
  return data != nullptr;
}

bool map_anonymous(std::uint64_t bytes, std::uint64_t first, std::string& why_not) {
  // MAP_SHARED: no copy-on-write faults after the job's fork().
  if (map_pages(bytes, first, MAP_SHARED | MAP_ANONYMOUS, -1)) return true;
  if (map_pages(bytes, first, MAP_PRIVATE | MAP_ANONYMOUS, -1)) return true;
  why_not = reason("cannot map " + format_size(bytes) + " of host memory", errno);
  return false;
}

bool is_disk(int fd) {
  struct statfs s {};
  return fstatfs(fd, &s) != 0 || s.f_type != kTmpfs;
}

bool map_file(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not) {
  if (!file_size_allowed(bytes)) {
    why_not = "the limit on file sizes (ulimit -f) allows no file of " + format_size(bytes);
    return false;
  }
  const int fd = open_high(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) {
    why_not = reason("cannot create " + path, errno);
    return false;
  }
  const bool on_disk = is_disk(fd);
  const bool ok = ftruncate(fd, static_cast<off_t>(bytes)) == 0 && map_pages(bytes, first, MAP_SHARED, fd);
  const int error = errno;
  close(fd);
  if (!ok) {
    unlink(path.c_str());
    why_not = reason("cannot map " + path, error);
    return false;
  }
  mapping.on_disk = on_disk;
  file() = path;
  return true;
}

// Keeps no descriptor open, since the job could close it.
bool allocate_in_file(std::uintptr_t begin, std::uintptr_t end) {
  const int fd = open_high(file().c_str(), O_RDWR);
  if (fd < 0) return false;
  const auto offset = static_cast<off_t>(begin - reinterpret_cast<std::uintptr_t>(mapping.data));
  int refused = EINTR;
  for (int i = 0; i < 8 && refused == EINTR; ++i) {
    refused = posix_fallocate(fd, offset, static_cast<off_t>(end - begin));
  }
  close(fd);
  return refused == 0;
}

}  // namespace

bool map(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not) {
  mapping = Mapping{};
  file().clear();
  return path.empty() ? map_anonymous(bytes, first, why_not) : map_file(path, bytes, first, why_not);
}

void unmap() {
  if (mapping.data != nullptr) munmap(mapping.data, mapping.mapped);
  if (!file().empty()) unlink(file().c_str());
  forget();
}

void forget() {
  mapping = Mapping{};
  file().clear();
}

char* data() { return mapping.data; }
std::size_t size() { return mapping.size; }
std::size_t mapped() { return mapping.mapped; }
const std::string& path() { return file(); }

bool reach(std::uint64_t end) {
  if (end <= mapping.mapped) return true;
  if (end > mapping.size) return false;
  const std::uint64_t wanted = std::min<std::uint64_t>((end + kGrowth - 1) / kGrowth * kGrowth, mapping.size);
  const std::uint64_t more = wanted - mapping.mapped;
  char* const behind = mapping.data + mapping.mapped;
  if (mapping.grows) {
    if (grow(behind, more, 0) == nullptr) return false;
  } else {
    // A shared anonymous mapping cannot grow.
    void* const piece = map_unlocked(behind, more, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
    if (piece != behind) {
      if (piece != nullptr) munmap(piece, more);
      return false;
    }
  }
  mapping.mapped = wanted;
  return true;
}

void keep_sparse(char* begin, std::size_t bytes) {
  if (mprotect(begin, bytes, PROT_NONE) != 0) return;
  mapping.sparse_begin = begin;
  mapping.sparse_end = begin + bytes;
}

bool populate(void* at, std::size_t bytes) {
  const std::uintptr_t page = page_size();
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(at) + bytes + page - 1) & ~(page - 1);
  const bool is_sparse = at >= mapping.sparse_begin && at < mapping.sparse_end;
  if (is_sparse && mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0) return false;
  // The page cache may accept a page for which the disk has no block.
  if (mapping.on_disk && !allocate_in_file(begin, end)) return false;
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) == 0) return true;
  // With these errors, a store would raise SIGBUS. Kernels before 5.14 and seccomp cause other errors.
  if (errno == EFAULT || errno == ENOMEM || errno == EHWPOISON) return false;
  if (mapping.is_file && !mapping.on_disk && !allocate_in_file(begin, end)) return false;
  for (std::uintptr_t p = begin; p < end; p += page) {
    reinterpret_cast<std::atomic<char>*>(p)->fetch_or(0, std::memory_order_relaxed);
  }
  return true;
}

bool give_back(char* begin, char* end) {
  const std::uintptr_t page = page_size();
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) & ~(page - 1);
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(end) & ~(page - 1);
  if (from >= to) return false;
  void* const pages = reinterpret_cast<void*>(from);
  if (madvise(pages, to - from, MADV_REMOVE) == 0) return true;
  // EINVAL: the job has locked them by mlockall().
  return errno == EINVAL && munlock(pages, to - from) == 0 && madvise(pages, to - from, MADV_REMOVE) == 0;
}

}  // namespace profshim::recorder::spool_memory
