// A lock-free string table: an append-only arena of texts in the spool, and a hash index in private memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

#include "profshim/event.h"

namespace profshim::recorder::string_table {

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
