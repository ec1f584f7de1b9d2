// The string table: an append-only arena in the spool and a hash index over it in private memory. Lock-free.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

#include "profshim/event.h"

namespace profshim::recorder::string_table {

/// Empties the table. `populate` gives a range of the arena pages; it returns false if there is no memory.
bool create(char* arena, std::size_t bytes, std::atomic<std::uint64_t>* used, std::atomic<std::uint64_t>* lost,
            bool (*populate)(void*, std::size_t));
StringId intern(std::string_view text, std::size_t limit);
/// The same for a C string whose address often holds the same text.
StringId intern_literal(const char* text);
std::string_view text_of(StringId id);

}  // namespace profshim::recorder::string_table
