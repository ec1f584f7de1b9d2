// Extended NVTX payloads as JSON text. An extended payload is binary data, described by a schema that the job has
// registered; NCCL passes one with every call. This runs on the job's threads, inside an NVTX call: no allocation, no
// locale, bounded output.
#pragma once

#include <cstddef>
#include <string_view>

#include "event_message.h"
#include "inject/nvtx/handles.h"

namespace profshim::nvtx {

inline constexpr std::size_t kMaxPayloadText = 4096;

/// Renders the payloads of one event as {"SCHEMA": {"field": value, ...}, ...}. Always valid JSON: values that do not
/// fit are left out, and "...": true marks the place. Returns "" if no payload can be rendered. Sets `message` if a
/// field is flagged as the event's message.
///
/// Reads the payloads only within the sizes that the job gives, and follows pointers where the schema has them.
std::string_view render_payload(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count,
                                char (&buffer)[kMaxPayloadText], EventMessage& message);

}  // namespace profshim::nvtx
