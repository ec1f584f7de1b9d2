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
#include "profshim/base/size_text.h"
#include "profshim/base/text/error_text.h"
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
  bool is_file = false;
  bool on_disk = false;
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

void* map_at(void* hint, std::uint64_t bytes, int flags, int fd) {
  void* const data = mmap(hint, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
  return data == MAP_FAILED ? nullptr : data;
}

bool map_pages(std::uint64_t bytes, std::uint64_t first, int flags, int fd) {
  void* data = nullptr;
  std::uint64_t mapped = bytes;
  if (first < bytes && address_space_is_scarce()) {
    mapped = first;
    for (const std::uintptr_t address : kRoomyAddresses) {
      void* const hint = reinterpret_cast<void*>(address);
      data = map_at(hint, first, flags, fd);
      if (data == nullptr || data == hint) break;
      munmap(data, first);
      data = nullptr;
    }
  }
  if (data == nullptr) data = map_at(nullptr, mapped, flags, fd);
  mapping = {static_cast<char*>(data), bytes, mapped, fd >= 0, false};
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
  if (mapping.is_file) {
    if (mremap(mapping.data, mapping.mapped, wanted, 0) == MAP_FAILED) return false;
  } else {
    // A shared anonymous mapping cannot grow.
    void* const piece = map_at(behind, more, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
    if (piece != behind) {
      if (piece != nullptr) munmap(piece, more);
      return false;
    }
  }
  mapping.mapped = wanted;
  return true;
}

bool populate(void* at, std::size_t bytes) {
  const std::uintptr_t page = page_size();
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(at) + bytes + page - 1) & ~(page - 1);
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
  return from < to && madvise(reinterpret_cast<void*>(from), to - from, MADV_REMOVE) == 0;
}

}  // namespace profshim::recorder::spool_memory
