#include "spool_output.h"

#include "profshim/recorder_control.h"

namespace profshim::device {

void SpoolOutput::put(const Event& event, const Event* continuation) {
  if (lane_ == nullptr) lane_ = recorder::device_lane();
  if (lane_ == nullptr) return;  // counted by the recorder
  Event* const slot = recorder::next_slot(*lane_);
  if (slot == nullptr) return;
  *slot = event;
  recorder::publish(*lane_);
  if (continuation != nullptr) recorder::commit(*lane_, *continuation);
}

StringId SpoolOutput::text(const char* text) { return recorder::intern_literal(text); }

void SpoolOutput::define(spool::DefinitionKind kind, std::uint32_t id, std::string_view name, std::string_view text,
                         std::initializer_list<std::int64_t> values) {
  recorder::define(kind, id, recorder::intern(name), recorder::intern(text, spool::kMaxText), values);
}

}  // namespace profshim::device
