#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "profshim/spool/format.h"
#include "tables.h"

namespace profshim::recorder::string_table {
namespace {

using spool::StringHeader;

// A slot holds the upper half of the hash << 32 | StringId; 0 = empty.
constexpr std::size_t kSlots = std::size_t{1} << 20;
constexpr std::size_t kMaxProbes = 64;

struct Table {
  std::atomic<std::uint64_t>* slots = nullptr;
  char* arena = nullptr;
  std::size_t bytes = 0;
  std::atomic<std::uint64_t>* used = nullptr;
  std::atomic<std::uint64_t>* lost = nullptr;
  bool (*populate)(void*, std::size_t) = nullptr;
};
constinit Table table;
constexpr std::size_t kGuesses = 1024;
constinit std::atomic<StringId> guesses[kGuesses] = {};  // by address of the text
constinit std::atomic<std::uint64_t> arena_ready{0};
constexpr std::size_t kReadyStep = 256 * 1024;

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t load(const char* p, std::size_t n) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, n);
  return word;
}

// Multiply-and-fold (wyhash).
inline std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t k0 = 0xa0761d6478bd642fULL;
  constexpr std::uint64_t k1 = 0xe7037ed1a0b428dbULL;
  const char* p = text.data();
  std::size_t n = text.size();
  std::uint64_t h = k0 ^ n;
  while (n > 16) {
    h = mix(load(p, 8) ^ k1, load(p + 8, 8) ^ h);
    p += 16;
    n -= 16;
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (n >= 8) {
    a = load(p, 8);
    b = load(p + n - 8, 8);
  } else if (n >= 4) {
    a = load(p, 4);
    b = load(p + n - 4, 4);
  } else if (n > 0) {
    a = static_cast<unsigned char>(p[0]) | static_cast<std::uint64_t>(static_cast<unsigned char>(p[n / 2])) << 8 |
        static_cast<std::uint64_t>(static_cast<unsigned char>(p[n - 1])) << 16;
  }
  h = mix(a ^ k1, b ^ h);
  return mix(h, k0 ^ k1) | 1;
}

const StringHeader& header_of(StringId id) {
  return *reinterpret_cast<const StringHeader*>(table.arena + std::size_t{id} * 16);
}

std::string_view text_at(StringId id) {
  const StringHeader& h = header_of(id);
  return {reinterpret_cast<const char*>(&h + 1), h.length};
}

StringId append(std::string_view text, std::uint64_t hash) {
  // The zeroed arena ends the text with a NUL for strcmp() in intern_literal().
  const std::size_t need = (sizeof(StringHeader) + text.size() + 1 + 15) & ~std::size_t{15};
  // No fetch_add(): undoing an addition beyond the size could free the place of another thread's text.
  std::uint64_t at = table.used->load(std::memory_order_relaxed);
  do {
    if (at + need > table.bytes) return 0;
  } while (!table.used->compare_exchange_weak(at, at + need, std::memory_order_relaxed));
  std::uint64_t ready = arena_ready.load(std::memory_order_acquire);
  if (at + need > ready) {
    const std::uint64_t until =
        std::min<std::uint64_t>((at + need + kReadyStep - 1) / kReadyStep * kReadyStep, table.bytes);
    if (!table.populate(table.arena + ready, until - ready)) return 0;
    while (ready < until && !arena_ready.compare_exchange_weak(ready, until, std::memory_order_release)) {
    }
  }
  auto* const h = reinterpret_cast<StringHeader*>(table.arena + at);
  h->hash = hash;
  h->length = static_cast<std::uint32_t>(text.size());
  std::memcpy(h + 1, text.data(), text.size());
  return static_cast<StringId>(at / 16);
}

StringId insert(std::string_view text, std::uint64_t hash) {
  StringId id = 0;
  for (std::size_t probe = 0; probe < kMaxProbes; ++probe) {
    std::atomic<std::uint64_t>& slot = table.slots[(hash + probe) & (kSlots - 1)];
    std::uint64_t word = slot.load(std::memory_order_acquire);
    if (word == 0) {
      if (id == 0) id = append(text, hash);
      if (id == 0) break;
      if (slot.compare_exchange_strong(word, (hash & 0xffffffff00000000) | id, std::memory_order_acq_rel)) return id;
    }
    if ((word ^ hash) >> 32 == 0 && header_of(static_cast<StringId>(word)).hash == hash) {
      return static_cast<StringId>(word);
    }
  }
  if (id == 0) table.lost->fetch_add(1, std::memory_order_relaxed);
  return id;  // without a slot, the next intern() appends the text again
}

}  // namespace

bool create(char* arena, std::size_t bytes, std::atomic<std::uint64_t>* used, std::atomic<std::uint64_t>* lost,
            bool (*populate)(void*, std::size_t), std::string_view inherited) {
  if (table.slots == nullptr) {
    void* const slots = mmap(nullptr, kSlots * sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots == MAP_FAILED) return false;
    table.slots = static_cast<std::atomic<std::uint64_t>*>(slots);
  } else if (inherited.empty()) {
    madvise(table.slots, kSlots * sizeof(std::uint64_t), MADV_DONTNEED);
    for (std::atomic<StringId>& guess : guesses) guess.store(0, std::memory_order_relaxed);
  }
  const std::size_t whole_steps = (inherited.size() / kReadyStep + 1) * kReadyStep;
  const std::uint64_t first = std::min<std::uint64_t>(whole_steps, bytes);
  if (inherited.size() > bytes || !populate(arena, first)) return false;
  std::memcpy(arena, inherited.data(), inherited.size());
  arena_ready.store(first, std::memory_order_release);
  table.arena = arena;
  table.bytes = bytes;
  table.used = used;
  table.lost = lost;
  table.populate = populate;
  used->store(std::max<std::size_t>(16, inherited.size()), std::memory_order_relaxed);  // id 0 means "no text"
  return true;
}

namespace {

// Not inlined, to keep `cut` off intern()'s stack.
[[gnu::noinline]] StringId intern_cut(std::string_view text, std::size_t limit) {
  char cut[spool::kMaxName];
  const std::size_t kept = std::min(limit, sizeof cut) - 3;
  std::memcpy(cut, text.data(), kept);
  std::memcpy(cut + kept, "...", 3);
  return intern({cut, kept + 3}, limit);
}

}  // namespace

StringId intern(std::string_view text, std::size_t limit) {
  if (__builtin_expect(text.size() > limit, 0)) return intern_cut(text, limit);
  const std::uint64_t hash = hash_of(text);
  const std::uint64_t word = table.slots[hash & (kSlots - 1)].load(std::memory_order_acquire);
  if (__builtin_expect((word ^ hash) >> 32 == 0 && word != 0, 1)) {
    const auto id = static_cast<StringId>(word);
    if (header_of(id).hash == hash) return id;
  }
  return insert(text, hash);
}

StringId intern_literal(const char* text) {
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  std::atomic<StringId>& guess = guesses[(address ^ address >> 9) % kGuesses];
  const StringId known = guess.load(std::memory_order_acquire);
  if (__builtin_expect(known != 0, 1) && std::strcmp(text_at(known).data(), text) == 0) return known;
  const StringId id = intern(text, spool::kMaxName);
  if (id != 0) guess.store(id, std::memory_order_release);
  return id;
}

std::string_view all_texts() { return {table.arena, std::min<std::uint64_t>(table.used->load(), arena_ready.load())}; }

std::string_view text_of(StringId id) { return id == 0 ? std::string_view{} : text_at(id); }

}  // namespace profshim::recorder::string_table
