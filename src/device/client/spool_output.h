#pragma once

#include "device/capture/converter.h"

namespace profshim::device {

/// Writes events into the spool's device block.
class SpoolOutput : public EventOutput {
 public:
  void put(const Event& event, const Event* continuation) override;
  StringId text(const char* text) override;
  void define(spool::DefinitionKind kind, std::uint32_t id, std::string_view name, std::string_view text,
              std::initializer_list<std::int64_t> values) override;

 private:
  spool::Thread* block_ = nullptr;
};

}  // namespace profshim::device
