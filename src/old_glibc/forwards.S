/* Functions whose default version is newer than glibc 2.28 although an older version does the same. glibc 2.32 to 2.34
   moved them from libpthread and libdl into libc; glibc 2.29 changed only how pow() and its neighbors report errors.

   Linked into `make portable` alone. */
#include "forward.inc"

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
