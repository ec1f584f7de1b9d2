#include <atomic>
#include <iterator>

#include "profshim/recorder.h"
#include "record/recorder_state.h"
#include "tables.h"

namespace profshim::recorder {

namespace {

constinit std::atomic<std::uint64_t> definitions_ready{0};
constinit std::atomic<StringId> reported_problems[64] = {};
constinit std::atomic<std::uint64_t> made_here{0};  // unlike the header's count, not shared with a child

/// The layer says them once: see nvtx/handles.cpp and native_frames.cpp.
constexpr bool is_cached(spool::DefinitionKind kind) {
  using Kind = spool::DefinitionKind;
  return kind == Kind::kNvtxDomain || kind == Kind::kNvtxCategory || kind == Kind::kModule;
}

}  // namespace

bool ready_first_definitions() { return ready(state.definitions, 1023, definitions_ready); }

void reset_definitions() {
  definitions_ready = 0;
  made_here = 0;
  for (std::atomic<StringId>& slot : reported_problems) slot = 0;
}

StringId intern(std::string_view text, std::size_t limit) {
  if (text.empty() || mode() == 0) return 0;
  return string_table::intern(text, limit);
}

StringId intern_literal(const char* text) { return mode() == 0 ? 0 : string_table::intern_literal(text); }

std::string_view text_of(StringId id) { return string_table::text_of(id); }

void define(spool::DefinitionKind kind, std::uint32_t id, StringId name, StringId text,
            std::initializer_list<std::int64_t> values) {
  if (state.header == nullptr || mode() == 0) return;
  // Count only definitions with pages: readers read every counted definition.
  std::uint64_t at = state.header->definitions.load(std::memory_order_relaxed);
  do {
    if (at >= state.header->definition_count || !ready(state.definitions, at, definitions_ready)) {
      state.header->definitions_lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  } while (!state.header->definitions.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
  spool::Definition& d = state.definitions[at];
  d.id = id;
  d.name = name;
  d.text = text;
  std::size_t i = 0;
  for (const std::int64_t value : values) {
    if (i < std::size(d.v)) d.v[i++] = value;
  }
  d.kind.store(kind, std::memory_order_release);
  made_here.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t definitions_made() { return made_here.load(); }

void adopt_definitions(std::span<const spool::Definition> parents) {
  for (const spool::Definition& d : parents) {
    const spool::DefinitionKind kind = d.kind.load(std::memory_order_acquire);
    if (is_cached(kind)) define(kind, d.id, d.name, d.text, {d.v[0], d.v[1], d.v[2], d.v[3], d.v[4], d.v[5]});
  }
}

void add_metadata(std::string_view key, std::string_view json) {
  define(spool::DefinitionKind::kMetadata, 0, intern(key), intern(json, spool::kMaxText));
}

namespace {

void report(std::string_view source, std::string_view sentence, bool is_missing) {
  const StringId text = intern(sentence);
  if (text == 0) return;
  for (std::atomic<StringId>& slot : reported_problems) {
    StringId known = 0;
    if (slot.compare_exchange_strong(known, text, std::memory_order_relaxed)) {
      return define(spool::DefinitionKind::kProblem, 0, text, intern(source),
                    {is_missing ? 1 : 0, static_cast<std::int64_t>(ticks())});
    }
    if (known == text) return;
  }
}

}  // namespace

void problem(std::string_view source, std::string_view sentence) { report(source, sentence, false); }
void missing(std::string_view source, std::string_view sentence) { report(source, sentence, true); }

}  // namespace profshim::recorder
