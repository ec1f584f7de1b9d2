#include "event_builder.h"

#include "numbers.h"
#include "profshim/json.h"
#include "profshim/trace/schema.h"

namespace profshim::trace_detail {

void EventBuilder::set_scoped_id(std::string_view json) {
  json_leaves(json, [this](std::string_view path, const ReadEvent::ReadArg& value) {
    if (path != schema::event::kLocal && path != schema::event::kGlobal) return;
    event_.has_id = true;
    event_.id = value.kind == ReadEvent::ReadArg::Kind::kString ? id_of_text(value.text, true) : value.integer;
  });
}

}  // namespace profshim::trace_detail
