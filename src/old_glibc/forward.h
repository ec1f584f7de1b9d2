/* FORWARD(name) defines a function that jumps to the oldest version of `name` in glibc. For assembly alone.

   The function jumps, not calls, since dlsym(RTLD_NEXT) looks at its caller. Each has a section, so that --gc-sections
   drops those that nobody calls. */

#if defined(__x86_64__)
#define JUMP(target) jmp *target@GOTPCREL(%rip)
#elif defined(__aarch64__)
#define JUMP(target) adrp x16, :got:target; ldr x16, [x16, #:got_lo12:target]; br x16
#endif

#define FORWARD_TO(name, target)                    \
  .section .text.old_glibc_##name, "ax", %progbits; \
  .globl name;                                      \
  .hidden name;                                     \
  .type name, %function;                            \
  name: JUMP(target);                               \
  .size name, . - name

#define FORWARD(name)           \
  FORWARD_TO(name, old_##name); \
  oldest old_##name, name

#if defined(__x86_64__)
.macro oldest symbol, name
  .ifc \name, dlinfo
  .symver \symbol, dlinfo@GLIBC_2.3.3
  .else
  .symver \symbol, \name\()@GLIBC_2.2.5
  .endif
.endm
#else
.macro oldest symbol, name
  .symver \symbol, \name\()@GLIBC_2.17
.endm
#endif
