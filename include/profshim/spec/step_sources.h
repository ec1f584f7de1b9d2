#pragma once

#include <cstdint>
#include <string_view>

namespace profshim {

/// Events that mark the steps: steps.def has a row for each.
enum class StepSource : std::uint8_t {
#define STEP_SOURCE(enumerator, ...) enumerator,
#include "profshim/spec/steps.def"
#undef STEP_SOURCE
};

/// A row of steps.def, without the modes.
struct StepSourceRow {
  enum class Pattern : std::uint8_t { kNone, kOptional, kRequired };
  enum Trait : std::uint8_t {
    kRanges = 1,    // ranges of NVTX or PyTorch mark the steps
    kCupti = 2,     // only CUPTI sees the markers
    kForeseen = 4,  // the schedule tells before a window begins that it is near
  };
  std::string_view word;
  Pattern pattern;
  std::string_view wanted, example, why_no_end;
  unsigned traits;

  bool has(Trait trait) const { return (traits & trait) != 0; }
};

inline constexpr StepSourceRow kStepSources[] = {
#define STEP_SOURCE(enumerator, word, pattern, wanted, example, why_no_end, modes, traits) \
  {word, StepSourceRow::Pattern::pattern, wanted, example, why_no_end, [] {                \
     using enum StepSourceRow::Trait;                                                      \
     return static_cast<unsigned>(traits);                                                 \
   }()},
#include "profshim/spec/steps.def"
#undef STEP_SOURCE
};

constexpr const StepSourceRow& row_of(StepSource source) { return kStepSources[static_cast<std::size_t>(source)]; }

}  // namespace profshim
