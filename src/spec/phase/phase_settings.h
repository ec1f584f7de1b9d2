// The settings of a phase that its tables `schedule` and `limits` share with the top level of the spec.
#pragma once

#include <array>
#include <string_view>

#include "profshim/spec.h"

namespace profshim::spec {

/// By PhaseSource.
inline constexpr std::array<std::string_view, kPhaseSources> kPhaseSourceKeys = {"nvtx",   "torch",  "symbol",
                                                                                 "python", "kernel", "thread"};

struct CycleSetting {
  std::string_view name;
  std::optional<std::int64_t> PhaseSpec::GivenSchedule::*given;
  std::int64_t Schedule::*top;
};
inline constexpr std::array kCycleSettings = {
    CycleSetting{"skip_first", &PhaseSpec::GivenSchedule::skip_first, &Schedule::skip_first},
    CycleSetting{"wait", &PhaseSpec::GivenSchedule::wait, &Schedule::wait},
    CycleSetting{"warmup", &PhaseSpec::GivenSchedule::warmup, &Schedule::warmup},
    CycleSetting{"active", &PhaseSpec::GivenSchedule::active, &Schedule::active},
    CycleSetting{"repeat", &PhaseSpec::GivenSchedule::repeat, &Schedule::repeat},
    CycleSetting{"skip_first_wait", &PhaseSpec::GivenSchedule::skip_first_wait, &Schedule::skip_first_wait},
};

template <class T>
struct DetailSetting {
  std::string_view name;
  std::optional<T> PhaseSpec::GivenDetail::*given;
  T Detail::*top;
};
inline constexpr std::array kDetailFlags = {
    DetailSetting<bool>{"record_shapes", &PhaseSpec::GivenDetail::record_shapes, &Detail::record_shapes},
    DetailSetting<bool>{"with_flops", &PhaseSpec::GivenDetail::with_flops, &Detail::with_flops},
    DetailSetting<bool>{"with_stack", &PhaseSpec::GivenDetail::with_stack, &Detail::with_stack},
    DetailSetting<bool>{"native_stack", &PhaseSpec::GivenDetail::native_stack, &Detail::native_stack},
    DetailSetting<bool>{"with_modules", &PhaseSpec::GivenDetail::with_modules, &Detail::with_modules},
};
inline constexpr std::array kDetailNumbers = {
    DetailSetting<std::int64_t>{"stack_every", &PhaseSpec::GivenDetail::stack_every, &Detail::stack_every},
    DetailSetting<std::int64_t>{"stack_depth", &PhaseSpec::GivenDetail::stack_depth, &Detail::stack_depth},
};

inline bool gives_cycle(const PhaseSpec::GivenSchedule& schedule) {
  for (const CycleSetting& setting : kCycleSettings) {
    if (schedule.*setting.given) return true;
  }
  return false;
}

}  // namespace profshim::spec
