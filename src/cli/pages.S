/* The man pages that `profshim help` prints, as scdoc source: name, first byte, end; a null name ends the table. */
.macro page name, file
  .section .rodata
1:
  .asciz "\name"
2:
  .incbin "\file"
3:
  .byte 0
  .section .data.rel.ro, "aw"
  .quad 1b, 2b, 3b
.endm

  .section .data.rel.ro, "aw"
  .balign 8
  .global profshim_pages
  .hidden profshim_pages
profshim_pages:
#define COMMAND(object, name, file) page name, file
#include "commands.def"
  page profshim, "src/cli/profshim.scd"
  page spec, "src/spec/spec.scd"
  .section .data.rel.ro, "aw"
  .quad 0, 0, 0

  .section .note.GNU-stack, "", %progbits
