#include "spool_output.h"

#include "profshim/recorder_control.h"

namespace profshim::device {

void SpoolOutput::put(const Event& event, const Event* continuation) {
  if (block_ == nullptr) block_ = recorder::device_block();
  if (block_ == nullptr) return;  // device_block() counts the loss
  Event* const slot = recorder::next_slot(*block_);
  if (slot == nullptr) return;
  *slot = event;
  recorder::publish(*block_);
  if (continuation != nullptr) recorder::commit(*block_, *continuation);
}

StringId SpoolOutput::text(const char* text) { return recorder::intern_literal(text); }

void SpoolOutput::define(spool::DefinitionKind kind, std::uint32_t id, std::string_view name, std::string_view text,
                         std::initializer_list<std::int64_t> values) {
  recorder::define(kind, id, recorder::intern(name), recorder::intern(text, spool::kMaxText), values);
}

}  // namespace profshim::device
