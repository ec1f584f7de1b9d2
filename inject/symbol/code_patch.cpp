#include "code_patch.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "profshim/base/process/memory_map.h"
#include "profshim/base/text/message_text.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace profshim::code_patch {

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kReach = (2ULL << 30) - (1ULL << 20);  // reach of a rel32, minus a margin

struct Mapping {
  std::uint64_t start, end;
  int protection;
  bool grows;  // [heap] and [stack] need the free space beside them
};

std::vector<Mapping> mappings() {
  std::vector<Mapping> list;
  each_mapping([&list](const MemoryMapping& mapping) {
    const int protection = (mapping.is_readable ? PROT_READ : 0) | (mapping.is_writable ? PROT_WRITE : 0) |
                           (mapping.is_executable ? PROT_EXEC : 0);
    const bool grows = mapping.path == "[heap]" || mapping.path.starts_with("[stack");
    list.push_back(Mapping{mapping.begin, mapping.end, protection, grows});
  });
  return list;
}

void* page_at(std::uint64_t address) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const page =
      mmap(wanted, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == wanted) return page;
  if (page != MAP_FAILED) munmap(page, kPage);  // kernels before 4.17 take the address as a hint
  return nullptr;
}

/// Searches below `address` first, because the heap grows above a program.
void* page_near(std::uint64_t address) {
  const std::vector<Mapping> list = mappings();
  for (std::size_t i = list.size(); i-- > 1;) {
    const std::uint64_t candidate = list[i].start - kPage;
    if (list[i].start > address || list[i].grows || list[i - 1].end > candidate) continue;
    if (address - candidate > kReach) break;
    if (void* const page = page_at(candidate)) return page;
  }
  if (!list.empty() && list[0].start <= address && list[0].start > (1U << 20) && address - list[0].start < kReach) {
    if (void* const page = page_at(list[0].start - kPage)) return page;
  }
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    const std::uint64_t candidate = list[i + 1].start - kPage;
    if (list[i].end <= address || list[i].grows || list[i + 1].grows || list[i].end > candidate) continue;
    const std::uint64_t low = list[i].end;
    if (low - address > kReach) break;
    if (void* const page = page_at(low)) return page;
  }
  return nullptr;
}

/// Makes all cores drop prefetched instructions. On older kernels, the interrupts of mprotect() do nearly the same.
void sync_cores() {
  constexpr int kSyncCore = 1 << 5, kRegisterSyncCore = 1 << 6;
  static const bool registered = syscall(SYS_membarrier, kRegisterSyncCore, 0, 0) == 0;
  if (registered) syscall(SYS_membarrier, kSyncCore, 0, 0);
}

bool has_cmpxchg16b() {
  unsigned a = 1, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c & (1U << 13)) != 0;
}

void store_16_aligned(std::uint8_t* at, const std::uint8_t* wanted) {
  alignas(16) std::uint64_t next[2], seen[2];
  std::memcpy(next, wanted, 16);
  std::memcpy(seen, at, 16);
  bool done = false;
  while (!done) {  // NOLINT(bugprone-infinite-loop): the instruction below writes `done`
    __asm__ volatile("lock cmpxchg16b %1\n\tsetz %0"
                     : "=q"(done), "+m"(*reinterpret_cast<std::uint8_t(*)[16]>(at)), "+a"(seen[0]), "+d"(seen[1])
                     : "b"(next[0]), "c"(next[1])
                     : "memory", "cc");
  }
}

// A mov is atomic within a cache line at any alignment; C++ does not guarantee that for a store.
void store_2(std::uint8_t* at, std::uint16_t wanted) {
  __asm__ volatile("movw %1, %0" : "=m"(*reinterpret_cast<std::uint8_t(*)[2]>(at)) : "r"(wanted) : "memory");
}

/// A thread that reaches `at` executes either the old or the new code. One atomic store suffices within 8 or 16 aligned
/// bytes. Otherwise the entry is a jump to itself until the other bytes are written.
bool write_code(std::uint8_t* at, const std::uint8_t* bytes, std::size_t size) {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  if (address % 8 + size <= 8) {
    std::uint64_t word;
    auto* const home = reinterpret_cast<std::uint64_t*>(address & ~7ULL);
    std::memcpy(&word, home, sizeof word);
    std::memcpy(reinterpret_cast<std::uint8_t*>(&word) + address % 8, bytes, size);
    __atomic_store_n(home, word, __ATOMIC_SEQ_CST);
    sync_cores();
    return true;
  }
  if (address % 16 + size <= 16 && has_cmpxchg16b()) {
    std::uint8_t line[16];
    auto* const home = reinterpret_cast<std::uint8_t*>(address & ~15ULL);
    std::memcpy(line, home, sizeof line);
    std::memcpy(line + address % 16, bytes, size);
    store_16_aligned(home, line);
    sync_cores();
    return true;
  }
  if (address % 64 == 63) return false;
  std::uint16_t first;
  std::memcpy(&first, bytes, sizeof first);
  store_2(at, 0xfeeb);  // jmp to itself
  sync_cores();
  for (std::size_t i = 2; i < size; ++i) reinterpret_cast<volatile std::uint8_t*>(at)[i] = bytes[i];
  sync_cores();
  store_2(at, first);
  sync_cores();
  return true;
}

bool patch(std::uint8_t* at, const std::uint8_t* bytes, std::size_t size, std::string& refusal) {
  const auto first = reinterpret_cast<std::uint64_t>(at) & ~(kPage - 1);
  const std::uint64_t end = (reinterpret_cast<std::uint64_t>(at) + size + kPage - 1) & ~(kPage - 1);
  int before = 0;
  for (const Mapping& mapping : mappings()) {
    if (mapping.start <= first && first < mapping.end) before = mapping.protection;
  }
  if ((before & PROT_EXEC) == 0) {
    refusal = "its code page is not executable";
    return false;
  }
  void* const pages = reinterpret_cast<void*>(first);
  if (mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    refusal = std::string("its code cannot be made writable: mprotect: ") + error_text(errno);
    return false;
  }
  const bool written = write_code(at, bytes, size);
  mprotect(pages, end - first, before);
  if (!written) refusal = "its entry straddles two cache lines and cannot be changed atomically";
  return written;
}

/// Writes the trampoline: push index; call the routine; drop the index; displaced instructions; jump back.
bool fill_stub(std::uint8_t* page, const elf::Code& function, const elf::Entry& entry, const void* target,
               std::uint32_t index, std::string& refusal) {
  constexpr std::size_t kSlot = kPage - 8;
  constexpr std::size_t kAfterCall = 11;
  std::vector<std::uint8_t> code = {0x68, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0x48, 0x8d, 0x64, 0x24, 0x08};
  std::memcpy(code.data() + 1, &index, 4);
  constexpr std::uint32_t displacement = kSlot - kAfterCall;
  std::memcpy(code.data() + 7, &displacement, 4);
  const std::uint64_t at = reinterpret_cast<std::uint64_t>(page) + code.size();
  if (!elf::relocate_entry(function, entry, at, code, refusal)) return false;
  std::memcpy(page, code.data(), code.size());
  std::memcpy(page + kSlot, &target, sizeof target);
  if (mprotect(page, kPage, PROT_READ | PROT_EXEC) == 0) return true;
  refusal = std::string("the trampoline cannot be made executable: mprotect: ") + error_text(errno);
  return false;
}

}  // namespace

bool install(const elf::Code& function, const elf::File& file, const elf::Function& symbol, std::uint64_t bias,
             const void* stub_target, std::uint32_t index, std::string& refusal) {
  std::vector<elf::Code> parts;
  for (const elf::Function* part : elf::cold_parts(file.functions(), symbol)) {
    parts.push_back({reinterpret_cast<const std::uint8_t*>(bias + part->value), part->size, bias + part->value});
  }
  void* page = page_near(function.address);
  const std::size_t jump_bytes = page != nullptr ? elf::kNearJump : elf::kFarJump;
  const elf::Entry entry = elf::examine_entry(function, parts, jump_bytes);
  refusal = entry.refusal;
  if (page == nullptr) {
    page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
      refusal = std::string("no memory for a trampoline: ") + error_text(errno);
      return false;
    }
  }
  auto* const stub = static_cast<std::uint8_t*>(page);
  std::uint8_t jump[elf::kFarJump] = {};
  std::uint8_t* const at = const_cast<std::uint8_t*>(function.bytes) + entry.patch_at;
  if (jump_bytes == elf::kNearJump) {
    const auto offset = static_cast<std::int32_t>(stub - (at + elf::kNearJump));
    jump[0] = 0xe9;
    std::memcpy(jump + 1, &offset, sizeof offset);
  } else {
    jump[0] = 0xff;
    jump[1] = 0x25;
    std::memcpy(jump + 6, &page, sizeof page);
  }
  if (refusal.empty() && fill_stub(stub, function, entry, stub_target, index, refusal) &&
      patch(at, jump, jump_bytes, refusal)) {
    return true;
  }
  munmap(page, kPage);
  return false;
}

bool is_patched(std::uint64_t address) {
  const auto* const code = reinterpret_cast<const std::uint8_t*>(address);
  const std::size_t skip = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa ? 4 : 0;
  return code[skip] == 0xe9 || (code[skip] == 0xff && code[skip + 1] == 0x25);
}

#else

bool install(const elf::Code&, const elf::File&, const elf::Function&, std::uint64_t, const void*, std::uint32_t,
             std::string& refusal) {
  refusal = "functions can be seen on x86-64 only";
  return false;
}
bool is_patched(std::uint64_t) { return false; }

#endif

}  // namespace profshim::code_patch
