// Finds the place behind damage from which a trace can be read again.
#pragma once

#include <string>

#include "profshim/json/stream_parser.h"

namespace profshim::trace_detail {

/// Takes bytes up to the next event's first key. Returns that event's text so far, `{"ph"`; "" at the end of the text.
/// `behind_list`: another member may hold objects with the keys of events, so "ph" must come first.
std::string skip_to_event(JsonStream& stream, bool behind_list);
/// Takes bytes up to the bracket that opens traceEvents, and the bracket. Returns false at the end of the text.
bool skip_to_list(JsonStream& stream);
/// Takes the comma between the list of events and the next member.
void skip_comma(JsonStream& stream);

}  // namespace profshim::trace_detail
