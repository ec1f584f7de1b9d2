/* dlsym() and dlvsym() of the job. Nearly every call ends with a jump to the next definition: its arguments, its stack and
   its return address are those of the caller, because RTLD_NEXT, RTLD_DEFAULT and the namespace depend on the caller. Only a
   lookup by a handle of a name that has a hook goes to profshim_look_up(): profshim_hooked_lookup() tells which. */

#if defined(__x86_64__)

.macro SAVE_ARGUMENTS
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
.endm
.macro RESTORE_ARGUMENTS
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
.endm

/* \version: register of the version, if the function has one. */
.macro LOOKUP name, version
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  cmpq $0, profshim_next_\name(%rip)
  je 3f
1:
  leaq 1(%rdi), %rax
  cmpq $1, %rax           /* RTLD_NEXT, RTLD_DEFAULT */
  jbe 2f
  testq %rsi, %rsi
  je 2f
.ifnb \version
  testq \version, \version
  je 2f
.endif
  SAVE_ARGUMENTS
  call profshim_hooked_lookup
  RESTORE_ARGUMENTS
  testl %eax, %eax
  jne 4f
2:
  jmp *profshim_next_\name(%rip)
3:                        /* the first call */
  SAVE_ARGUMENTS
  call profshim_find_\name
  RESTORE_ARGUMENTS
  cmpq $0, profshim_next_\name(%rip)
  jne 1b
  jmp *%rax               /* the loader has not relocated this library yet */
4:
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
  adrp x16, profshim_next_\name
  ldr x16, [x16, #:lo12:profshim_next_\name]
  cbz x16, 3f
1:
  add x9, x0, #1
  cmp x9, #1              /* RTLD_NEXT, RTLD_DEFAULT */
  b.ls 2f
  cbz x1, 2f
.ifnb \version
  cbz \version, 2f
.endif
  SAVE_ARGUMENTS
  bl profshim_hooked_lookup
  mov w9, w0
  RESTORE_ARGUMENTS
  cbnz w9, 4f
  adrp x16, profshim_next_\name
  ldr x16, [x16, #:lo12:profshim_next_\name]
2:
  br x16
3:                        /* the first call */
  SAVE_ARGUMENTS
  bl profshim_find_\name
  mov x9, x0
  RESTORE_ARGUMENTS
  adrp x16, profshim_next_\name
  ldr x16, [x16, #:lo12:profshim_next_\name]
  cbnz x16, 1b
  mov x16, x9             /* the loader has not relocated this library yet */
  br x16
4:
.ifb \version
  mov x2, xzr
.endif
  mov w3, w9
  mov x4, x30             /* the caller */
  b profshim_look_up
  .cfi_endproc
  .size \name, .-\name
.endm

  .text
  LOOKUP dlsym
  LOOKUP dlvsym, x2

#endif

  .section .note.GNU-stack, "", %progbits
