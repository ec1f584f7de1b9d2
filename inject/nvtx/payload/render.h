// Extended NVTX payloads as JSON text: binary data laid out by a schema that the job registered (NCCL does that for
// every call). Runs between the job's call and our return: no allocation, no locale, bounded output.
#pragma once

#include <cstddef>
#include <string_view>

#include "inject/nvtx/handles.h"

namespace profshim::nvtx {

inline constexpr std::size_t kMaxPayloadText = 4096;

/// {"SCHEMA": {"field": value, ...}, ...} for the payloads of one event, always valid JSON: what does not fit is left
/// out and "...": true says so. Empty when there is nothing to show. `message` gets the text of a field that is flagged
/// as the event's message. Data are read only within the sizes given by the job; pointers in them are followed as its
/// schema says.
std::string_view render_payload(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count,
                                char (&buffer)[kMaxPayloadText], std::string_view& message);

/// The integer, size or enum in the entry of that name, zero-extended to 64 bits; false when the payload has none. For
/// schemas of scalars, as NCCL's are.
bool integer_in(const Domain& domain, const nvtxPayloadData_t& payload, std::string_view entry, std::uint64_t& value);

}  // namespace profshim::nvtx
