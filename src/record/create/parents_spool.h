// The spool of the parent, in a child of a fork that records on its own. Hooks keep StringIds and "defined" marks in
// caches of their own, which the child inherits: its spool begins with the same texts and definitions.
#pragma once

#include <string_view>

namespace profshim::recorder {

/// The texts of the parent's spool; "" = there is no such spool, or adopt_from_parent() has taken them.
std::string_view parents_texts();

}  // namespace profshim::recorder
