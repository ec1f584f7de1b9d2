// Routines that patched functions reach at entry and at return. They keep the flags and every register that can hold an
// argument or a result (integer, x87, SSE, AVX, AVX-512).
#if defined(__x86_64__)

// Saves the flags and all registers; \index: the number behind the saved flags.
.macro save_registers index
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
  movl \index(%rbp), %edi
  leaq \index+8(%rbp), %rsi
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
  jmp 3f
2:
  fxsave (%rsp)
3:
.endm

.macro restore_registers
  movl profshim_state_mask(%rip), %eax
  testl %eax, %eax
  je 2f
  xorl %edx, %edx
  xrstor (%rsp)
  jmp 3f
2:
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
.endm

  .text

// On entry the stack holds the return address into the trampoline, the index, and the function's return address.
  .p2align 4
  .hidden profshim_symbol_entry
  .globl profshim_symbol_entry
  .type profshim_symbol_entry, @function
profshim_symbol_entry:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  pushfq
  cmpl $0, _ZN8profshim13process_wordsE(%rip)
  jne 1f
  popfq
  ret
1:
  save_registers 24
  call profshim_symbol_entered
  restore_registers
  popfq
  ret
  .cfi_endproc
  .size profshim_symbol_entry, .-profshim_symbol_entry

// The code of slot N: the distance to the slot, then instructions that push N. Its frame has no return address on the
// stack. So its unwind rule says, as a DWARF expression: the slot, which is at the distance from the word in front of the
// code, holds the return address.
  .p2align 6
  .hidden profshim_return_code
  .globl profshim_return_code
  .type profshim_return_code, @function
profshim_return_code:
  .cfi_startproc
  .cfi_personality 0x9b, DW.ref.profshim_call_unwound
  .cfi_def_cfa rsp, 0
  // DW_CFA_expression rip: breg16 -8, dup, deref_size 4, plus
  .cfi_escape 0x10, 16, 6, 0x80, 0x78, 0x12, 0x94, 0x04, 0x22
  .set slot, 0
  .rept 256
  .long profshim_return_slots + 64 * slot - .
  nop
  nop
  nop
  nop
  pushq $slot
  jmp profshim_return_common
  .p2align 5, 0xcc
  .set slot, slot + 1
  .endr
  .cfi_endproc
  .size profshim_return_code, .-profshim_return_code

// The true return address replaces the number of the slot.
  .p2align 4
  .type profshim_return_common, @function
profshim_return_common:
  .cfi_startproc
  .cfi_undefined rip
  pushfq
  save_registers 16
  call profshim_call_returned
  movq %rax, 16(%rbp)
  restore_registers
  popfq
  ret
  .cfi_endproc
  .size profshim_return_common, .-profshim_return_common

// The unwinder comes here if the caller of the function handles the exception (rax). The unwinding goes on from there, as
// if the caller had called _Unwind_Resume: rdx holds the address of a Resumption (returns.cpp).
  .p2align 4
  .hidden profshim_resume_in_caller
  .globl profshim_resume_in_caller
  .type profshim_resume_in_caller, @function
profshim_resume_in_caller:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  movq %rax, %rdi
  pushq (%rdx)
  jmp *8(%rdx)
  .cfi_endproc
  .size profshim_resume_in_caller, .-profshim_resume_in_caller

  .section .data.rel.local.DW.ref.profshim_call_unwound,"aw"
  .p2align 3
  .type DW.ref.profshim_call_unwound, @object
  .size DW.ref.profshim_call_unwound, 8
DW.ref.profshim_call_unwound:
  .quad profshim_call_unwound
#endif

  .section .note.GNU-stack, "", %progbits
