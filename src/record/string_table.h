// Texts by id: an append-only arena in the spool and a hash index over it in private memory. Lock-free.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

#include "profshim/event.h"

namespace profshim::recorder::string_table {

/// `populate` gives a range of the arena real pages; false when there are none.
bool create(char* arena, std::size_t bytes, std::atomic<std::uint64_t>* used, std::atomic<std::uint64_t>* lost,
            bool (*populate)(void*, std::size_t));
StringId intern(std::string_view text, std::size_t limit);
/// The same for a text that ends with a NUL and is often the same one at the same address.
StringId intern_literal(const char* text);
std::string_view text_of(StringId id);

}  // namespace profshim::recorder::string_table
