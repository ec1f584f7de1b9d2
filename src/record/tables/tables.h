// Tables in the spool.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "profshim/event.h"
#include "profshim/spool/format.h"

namespace profshim::recorder::string_table {

// A lock-free string table: an append-only arena of texts in the spool, and a hash index in private memory.

/// `populate` gives pages to a range, or returns false. `inherited`: the arena of the parent process, whose texts keep
/// their ids; "" = none.
bool create(char* arena, std::size_t bytes, std::atomic<std::uint64_t>* used, std::atomic<std::uint64_t>* lost,
            bool (*populate)(void*, std::size_t), std::string_view inherited);
StringId intern(std::string_view text, std::size_t limit);
StringId intern_literal(const char* text);
std::string_view text_of(StringId id);
/// The arena as far as this process has given it pages, with all texts that it has an id of.
std::string_view all_texts();

}  // namespace profshim::recorder::string_table

namespace profshim::recorder {

/// Gives pages to the first definitions. Returns false without memory.
bool ready_first_definitions();
void reset_definitions();
std::uint64_t definitions_made();
/// Adds those that hooks do not repeat.
void adopt_definitions(std::span<const spool::Definition> parents);

// Slots of pending operations, which may end on another thread.

/// Returns false without memory.
bool create_pending_slots(std::uint32_t slots);

/// In a child of a fork: a thread of the parent may have held the locks.
void free_window_table_locks();

}  // namespace profshim::recorder
