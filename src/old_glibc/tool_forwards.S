/* Like forwards.S, for the tool alone: the library defines this function itself (inject/lookup). */
#include "forward.inc"

FORWARD(dlsym)

.section .note.GNU-stack, "", %progbits
