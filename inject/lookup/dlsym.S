/* dlsym() and dlvsym() of the job. Nearly every call ends with a jump to the next definition: its arguments, its stack and
   its return address are those of the caller, because RTLD_NEXT, RTLD_DEFAULT and the namespace depend on the caller. Only a
   lookup by a handle whose name is in the table of by_handle.cpp goes to profshim_look_up(). No lock, no allocation. */

/* Bits of the first letters of names in the table, from '@' on: M, _, c, n. */
#define FIRST_LETTERS 0x400880002000
#define BEFORE_FIRST_LETTER 64

#if defined(__x86_64__)

/* \version: register of the version, if the function has one. */
.macro LOOKUP name, version
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  leaq 1(%rdi), %rax
  cmpq $1, %rax           /* RTLD_NEXT, RTLD_DEFAULT */
  jbe 1f
  testq %rsi, %rsi
  je 1f
.ifnb \version
  testq \version, \version
  je 1f
.endif
  movzbl (%rsi), %eax
  subl $BEFORE_FIRST_LETTER, %eax
  cmpl $63, %eax
  ja 1f
  movabsq $FIRST_LETTERS, %rcx
  btq %rax, %rcx
  jnc 1f
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  movq %rsi, %rdi
  call profshim_hooked_name
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testl %eax, %eax
  jne 3f
1:
  movq profshim_next_\name(%rip), %rax
  testq %rax, %rax
  je 2f
  jmp *%rax
2:
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  call profshim_find_next_\name
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
3:
.ifb \version
  xorl %edx, %edx
.endif
  movl %eax, %ecx
  movq (%rsp), %r8        /* the caller */
  jmp profshim_look_up
  .cfi_endproc
  .size \name, .-\name
.endm

  .text
  LOOKUP dlsym
  LOOKUP dlvsym, %rdx

#elif defined(__aarch64__)

.macro SAVE_ARGUMENTS
  stp x29, x30, [sp, #-48]!
  .cfi_def_cfa_offset 48
  .cfi_offset x29, -48
  .cfi_offset x30, -40
  mov x29, sp
  stp x0, x1, [sp, #16]
  str x2, [sp, #32]
.endm
.macro RESTORE_ARGUMENTS
  ldp x0, x1, [sp, #16]
  ldr x2, [sp, #32]
  ldp x29, x30, [sp], #48
  .cfi_restore x30
  .cfi_restore x29
  .cfi_def_cfa_offset 0
.endm

.macro LOOKUP name, version
  .p2align 4
  .globl \name
  .type \name, %function
\name:
  .cfi_startproc
  hint #34                /* bti c */
  add x9, x0, #1
  cmp x9, #1              /* RTLD_NEXT, RTLD_DEFAULT */
  b.ls 1f
  cbz x1, 1f
.ifnb \version
  cbz \version, 1f
.endif
  ldrb w9, [x1]
  sub w9, w9, #BEFORE_FIRST_LETTER
  cmp w9, #63
  b.hi 1f
  ldr x10, =FIRST_LETTERS
  lsr x10, x10, x9
  tbz x10, #0, 1f
  SAVE_ARGUMENTS
  mov x0, x1
  bl profshim_hooked_name
  mov w9, w0
  RESTORE_ARGUMENTS
  cbnz w9, 3f
1:
  adrp x16, profshim_next_\name
  ldr x16, [x16, #:lo12:profshim_next_\name]
  cbz x16, 2f
  br x16
2:
  SAVE_ARGUMENTS
  bl profshim_find_next_\name
  mov x16, x0
  RESTORE_ARGUMENTS
  br x16
3:
.ifb \version
  mov x2, xzr
.endif
  mov w3, w9
  mov x4, x30             /* the caller */
  b profshim_look_up
  .ltorg
  .cfi_endproc
  .size \name, .-\name
.endm

  .text
  LOOKUP dlsym
  LOOKUP dlvsym, x2

#endif

  .section .note.GNU-stack, "", %progbits
