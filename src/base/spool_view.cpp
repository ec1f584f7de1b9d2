#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/threads/shared_words.h"
#include "profshim/spool/view.h"

namespace profshim::spool {
namespace {

template <class T>
const T& zero() {
  // For an index out of range: every structure is valid when zero.
  alignas(64) static const char bytes[sizeof(T)] = {};
  return *reinterpret_cast<const T*>(bytes);
}

bool inside(const SpoolHeader& h, std::uint64_t at, std::uint64_t bytes) {
  return at % 64 == 0 && at <= h.file_bytes && bytes <= h.file_bytes - at;
}

const char* broken_part(const SpoolHeader& h, std::size_t size) {
  if (std::memcmp(h.magic, kMagic, sizeof h.magic) != 0) return "not a buffer file (spool) of profshim";
  if (h.version != kFormatVersion || h.header_bytes != sizeof(SpoolHeader))
    return "written by another version of profshim: recover it with that version";
  if (h.file_bytes > size) return "damaged: the file ends early";
  if (!inside(h, h.threads_at, sizeof(Thread) * std::uint64_t{h.thread_count}))
    return "damaged: the thread table lies outside the file";
  if (!inside(h, h.arena_at, h.arena_bytes)) return "damaged: the string table lies outside the file";
  if (!inside(h, h.definitions_at, sizeof(Definition) * std::uint64_t{h.definition_count}))
    return "damaged: the definitions lie outside the file";
  if (!inside(h, h.windows_at, sizeof(Window) * std::uint64_t{kMaxWindows}))
    return "damaged: the windows lie outside the file";
  if (!inside(h, h.marks_at, sizeof(StepMark) * std::uint64_t{kMaxMarks}))
    return "damaged: the step boundaries lie outside the file";
  if (h.counter_count > kMaxMarks || !inside(h, h.counters_at, sizeof(PerfReading) * std::uint64_t{h.counter_count}))
    return "damaged: the counters lie outside the file";
  if (!inside(h, h.anchors_at, sizeof(Anchor) * std::uint64_t{kMaxAnchors}))
    return "damaged: the clock readings lie outside the file";
  if (!inside(h, h.pending_at, sizeof(Event) * std::uint64_t{h.pending_count}))
    return "damaged: the pending operations lie outside the file";
  if (!inside(h, h.chunks_at, std::uint64_t{kChunkBytes} * h.chunk_count))
    return "damaged: the events lie outside the file";
  return nullptr;
}

}  // namespace

std::string threads_lost_sentence(const SpoolHeader& h) {
  const std::uint64_t threads = h.threads_lost.load(std::memory_order_relaxed);
  if (threads == 0) return {};
  return std::to_string(threadless_events(h)) + " events of " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads") + " were not recorded: at most " + std::to_string(h.thread_count) +
         " threads are recorded at a time";
}

std::unique_ptr<View> View::in_memory(const void* data, std::size_t size, std::string& why_not) {
  if (size < sizeof(SpoolHeader) || reinterpret_cast<std::uintptr_t>(data) % 64 != 0) {
    why_not = "damaged: too short or misaligned";
    return nullptr;
  }
  const auto* const header = static_cast<const SpoolHeader*>(data);
  if (const char* broken = broken_part(*header, size)) {
    why_not = broken;
    return nullptr;
  }
  std::unique_ptr<View> view(new View);
  view->data_ = static_cast<const char*>(data);
  view->size_ = size;
  view->header_ = header;
  return view;
}

std::unique_ptr<View> View::open(const std::string& path, std::string& why_not) {
  struct stat found {};
  const Descriptor fd = open_regular(path, found);
  if (fd) return open(fd.get(), why_not);
  why_not = errno == EINVAL ? "not a regular file" : error_text(errno);
  return nullptr;
}

std::unique_ptr<View> View::open(int fd, std::string& why_not) {
  struct stat s {};
  void* data = MAP_FAILED;
  if (fstat(fd, &s) == 0 && s.st_size > 0) {
    data = mmap(nullptr, static_cast<std::size_t>(s.st_size), PROT_READ, MAP_SHARED, fd, 0);
  }
  if (data == MAP_FAILED) {
    why_not = s.st_size == 0 ? "the file is empty" : error_text(errno);
    return nullptr;
  }
  auto view = in_memory(data, static_cast<std::size_t>(s.st_size), why_not);
  if (view == nullptr) {
    munmap(data, static_cast<std::size_t>(s.st_size));
    return nullptr;
  }
  view->mapped_ = true;
  return view;
}

View::~View() {
  if (mapped_) munmap(const_cast<char*>(data_), size_);
}

Rank View::rank() const {
  const SpoolHeader& h = *header_;
  return {h.rank,
          h.world_size,
          h.local_rank,
          h.local_world_size,
          h.node_rank,
          std::string(string(h.host)),
          std::string(string(h.rank_source)),
          {}};
}

std::string_view View::string(StringId id, std::size_t longest) const {
  const std::uint64_t at = std::uint64_t{id} * 16;
  if (id == 0 || at + sizeof(StringHeader) > header_->arena_bytes) return {};
  const auto* const h = reinterpret_cast<const StringHeader*>(data_ + header_->arena_at + at);
  if (h->length > longest || h->length > header_->arena_bytes - at - sizeof(StringHeader)) return {};
  return {reinterpret_cast<const char*>(h + 1), h->length};
}

const Thread& View::thread(std::uint32_t i) const {
  return i < header_->thread_count ? reinterpret_cast<const Thread*>(data_ + header_->threads_at)[i] : zero<Thread>();
}

const ChunkHeader& View::chunk(std::uint32_t i) const {
  if (i >= header_->chunk_count) return zero<ChunkHeader>();
  return *reinterpret_cast<const ChunkHeader*>(data_ + header_->chunks_at + std::uint64_t{i} * kChunkBytes);
}

Run View::run_at(std::uint32_t chunk, std::uint32_t slot) const {
  const Event* const at = slots() + std::size_t{chunk} * kSlotsPerChunk + slot;
  const auto* const header = reinterpret_cast<const RunHeader*>(at);
  const std::uint32_t room = std::min(header->room.load(std::memory_order_acquire), kSlotsPerChunk - slot - 1);
  return {header, at + 1, std::min(header->count.load(std::memory_order_acquire), room)};
}

const Window& View::window(std::uint64_t number) const {
  if (number == kSearchWindow) return header_->search;
  return reinterpret_cast<const Window*>(data_ + header_->windows_at)[number % kMaxWindows];
}

const Event& View::pending(std::uint32_t i) const {
  return i < header_->pending_count ? reinterpret_cast<const Event*>(data_ + header_->pending_at)[i] : zero<Event>();
}

std::vector<StepMark> View::marks(std::uint64_t first, std::uint64_t end) const {
  std::vector<StepMark> found;
  const std::uint64_t made = header_->marks.load(std::memory_order_acquire);
  end = std::min(end, made);
  if (made > kMaxMarks) first = std::max(first, made - kMaxMarks);
  const auto* const all = reinterpret_cast<const StepMark*>(data_ + header_->marks_at);
  for (std::uint64_t i = first; i < end; ++i) found.push_back(load_words(all[i % kMaxMarks]));
  return found;
}

PerfReading View::counters(std::uint64_t mark) const {
  const std::uint64_t room = header_->counter_count;
  if (room == 0 || mark >= header_->marks.load(std::memory_order_acquire)) return {};
  const PerfReading reading =
      load_words(reinterpret_cast<const PerfReading*>(data_ + header_->counters_at)[mark % room]);
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t made = header_->marks.load(std::memory_order_relaxed);
  return made - mark < room ? reading : PerfReading{};
}

std::vector<Anchor> View::anchors() const {
  const std::uint64_t made = header_->anchors.load(std::memory_order_acquire);
  const auto* const all = reinterpret_cast<const Anchor*>(data_ + header_->anchors_at);
  std::vector<Anchor> found;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(made, kMaxAnchors); ++i) found.push_back(load_words(all[i]));
  // Drop anchors that a writer overwrote meanwhile. Anchor 0 is never overwritten.
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t made_since = header_->anchors.load(std::memory_order_relaxed);
  if (made_since < kMaxAnchors) return found;
  std::vector<bool> overwritten(kMaxAnchors);
  for (std::uint64_t n = made; n <= made_since && n - made < kMaxAnchors; ++n) overwritten[anchor_place(n)] = true;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!overwritten[i]) found[kept++] = found[i];
  }
  found.resize(kept);
  return found;
}

std::vector<const Definition*> View::definitions() const {
  std::vector<const Definition*> found;
  const std::uint64_t made =
      std::min<std::uint64_t>(header_->definitions.load(std::memory_order_acquire), header_->definition_count);
  const auto* const all = reinterpret_cast<const Definition*>(data_ + header_->definitions_at);
  for (std::uint64_t i = 0; i < made; ++i) {
    if (all[i].kind.load(std::memory_order_acquire) != DefinitionKind::kNone) found.push_back(&all[i]);
  }
  return found;
}

}  // namespace profshim::spool
