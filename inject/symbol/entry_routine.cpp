#include "entry_routine.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "returns.h"

namespace profshim::symbol {

constinit Site sites[kMaxSites];

namespace {

void begin_call(const Site& site, std::uintptr_t* return_address) {
  if (!session::makes_phase(site.phases)) {
    phase_ranges::begin(site.phases, site.name);  // a tick has no end
    return;
  }
  if (watch_return(return_address, site.phases, site.name)) return;
  recorder::missing("symbol", "calls of functions that make phases are lost: more than 256 are in progress");
}

}  // namespace
}  // namespace profshim::symbol

#if defined(__x86_64__)

extern "C" {
// Read by routines.S: bytes of the save area, xsave components (0 = fxsave).
[[gnu::visibility("hidden")]] std::uint64_t profshim_state_bytes = 512;
[[gnu::visibility("hidden")]] std::uint32_t profshim_state_mask = 0;
[[gnu::visibility("hidden")]] void profshim_symbol_entry();

/// routines.S has saved all registers. Any thread.
[[gnu::visibility("hidden"), gnu::used]] void profshim_symbol_entered(std::uint32_t index,
                                                                      std::uintptr_t* return_address) noexcept {
  using namespace profshim;
  const int error = errno;
  const symbol::Site& site = symbol::sites[index];
  if (spool::Thread* const thread = recorder::this_thread()) {
    if (site.is_step) {
      const recorder::LayerScope scope(*thread, Layer::kNone);
      if (scope.outermost()) session::step_boundary(ticks(), std::nullopt, site.name);
    }
    if (site.phases != 0) symbol::begin_call(site, return_address);
  }
  errno = error;
}
}

#endif

namespace profshim::symbol {
#if defined(__x86_64__)
namespace {
void cpuid(unsigned leaf, unsigned part, unsigned (&r)[4]) {
  __asm__("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(part));
}

}  // namespace

void choose_register_state() {
  constexpr std::uint32_t kArguments = 0xe7;  // XCR0: x87, SSE, AVX, three of AVX-512
  unsigned r[4];
  cpuid(1, 0, r);
  if ((r[2] & (1U << 27)) == 0) return;  // no xgetbv: fxsave
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  std::uint64_t bytes = 512 + 64;
  for (unsigned feature = 2; feature < 8; ++feature) {
    if ((low & kArguments & (1U << feature)) == 0) continue;
    cpuid(0xd, feature, r);
    bytes = std::max<std::uint64_t>(bytes, r[0] + r[1]);
  }
  profshim_state_bytes = bytes;
  profshim_state_mask = low & kArguments;
}
const void* stub_target() { return reinterpret_cast<const void*>(&profshim_symbol_entry); }
#else
void choose_register_state() {}
const void* stub_target() { return nullptr; }
#endif
}  // namespace profshim::symbol
