#include "entry_routine.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::symbol_steps {

constinit StringId site_names[kMaxSites] = {};

}  // namespace profshim::symbol_steps

#if defined(__x86_64__)

extern "C" {
// Read by the assembly below: bytes of the save area, xsave components (0 = fxsave).
[[gnu::visibility("hidden")]] std::uint64_t profshim_state_bytes = 512;
[[gnu::visibility("hidden")]] std::uint32_t profshim_state_mask = 0;
[[gnu::visibility("hidden")]] void profshim_symbol_entry();

/// The assembly has saved all registers. Any thread.
[[gnu::visibility("hidden"), gnu::used]] void profshim_symbol_entered(std::uint32_t index) noexcept {
  using namespace profshim;
  const int error = errno;
  spool::Thread* const thread = recorder::this_thread();
  if (thread != nullptr) {
    const recorder::LayerScope scope(*thread, Layer::kNone);
    if (scope.outermost()) {
      session::step_boundary(ticks(), std::nullopt, symbol_steps::site_names[index]);
    }
  }
  errno = error;
}
}

// On entry the stack holds the return address into the trampoline, the index, and the function's return address.
// Preserves the flags and every argument register (integer, x87, SSE, AVX, AVX-512).
__asm__(R"(
  .text
  .p2align 4
  .hidden profshim_symbol_entry
  .globl profshim_symbol_entry
  .type profshim_symbol_entry, @function
profshim_symbol_entry:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  pushfq
  cmpl $0, _ZN8profshim8recorder6detail4modeE(%rip)
  jne 1f
  popfq
  ret
1:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rbx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  cld
  movl 24(%rbp), %edi
  subq profshim_state_bytes(%rip), %rsp
  andq $-64, %rsp
  movl profshim_state_mask(%rip), %eax
  testl %eax, %eax
  je 2f
  xorl %edx, %edx
  movq %rdx, 512(%rsp)
  movq %rdx, 520(%rsp)
  movq %rdx, 528(%rsp)
  movq %rdx, 536(%rsp)
  movq %rdx, 544(%rsp)
  movq %rdx, 552(%rsp)
  movq %rdx, 560(%rsp)
  movq %rdx, 568(%rsp)
  xsave (%rsp)
  call profshim_symbol_entered
  movl profshim_state_mask(%rip), %eax
  xorl %edx, %edx
  xrstor (%rsp)
  jmp 3f
2:
  fxsave (%rsp)
  call profshim_symbol_entered
  fxrstor (%rsp)
3:
  leaq -80(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rbx
  popq %rdx
  popq %rcx
  popq %rax
  popq %rbp
  popfq
  ret
  .cfi_endproc
  .size profshim_symbol_entry, .-profshim_symbol_entry
)");

#endif

namespace profshim::symbol_steps {
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
}  // namespace profshim::symbol_steps
