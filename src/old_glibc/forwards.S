/* Functions whose default version is newer than glibc 2.28 although an older version does the same: each name jumps to
   the oldest version. glibc 2.32 to 2.34 moved them from libpthread and libdl into libc; glibc 2.29 changed only how
   pow() and its neighbors report errors. The names jump, not call, since dlsym(RTLD_NEXT) looks at its caller.

   Linked into `make portable` alone, a section each, so that --gc-sections drops functions that nobody calls. */

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

FORWARD(dladdr)
FORWARD(dlclose)
FORWARD(dlerror)
FORWARD(dlinfo)
FORWARD(dlopen)

FORWARD(pthread_attr_setstacksize)
FORWARD(pthread_create)
FORWARD(pthread_detach)
FORWARD(pthread_getspecific)
FORWARD(pthread_join)
FORWARD(pthread_key_create)
FORWARD(__pthread_key_create)
FORWARD(pthread_key_delete)
FORWARD(pthread_mutex_trylock)
FORWARD(pthread_once)
FORWARD(pthread_rwlock_rdlock)
FORWARD(pthread_rwlock_unlock)
FORWARD(pthread_rwlock_wrlock)
FORWARD(pthread_setspecific)
FORWARD(pthread_sigmask)

FORWARD(exp)
FORWARD(log)
FORWARD(log2)
FORWARD(pow)

/* glibc 2.38: new names of functions that now also read binary numbers ("0b101") where the base is 0 or 2. */
FORWARD_TO(__isoc23_strtol, strtol)
FORWARD_TO(__isoc23_strtoul, strtoul)
FORWARD_TO(__isoc23_strtoll, strtoll)
FORWARD_TO(__isoc23_strtoull, strtoull)
FORWARD_TO(__isoc23_sscanf, sscanf)
FORWARD_TO(__isoc23_fscanf, fscanf)
FORWARD_TO(__isoc23_vsscanf, vsscanf)

.section .note.GNU-stack, "", %progbits
