#pragma once

#include <cstddef>
#include <string_view>

#include "inject/nvtx/handles.h"
#include "types.h"

namespace profshim::nvtx {

inline constexpr std::size_t kMaxPayloadText = 4096;

/// Renders {"SCHEMA": {"field": value, ...}, ...}, always valid JSON; "...": true marks values that do not fit. "" if
/// nothing can be rendered. Reads only within the job's payload sizes, and behind the schema's pointers.
std::string_view render_payload(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count,
                                char (&buffer)[kMaxPayloadText], EventMessage& message);

}  // namespace profshim::nvtx
