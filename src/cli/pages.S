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
  page run, "src/cli/run/run.scd"
  page check, "src/cli/spec/check.scd"
  page explain, "src/cli/spec/explain.scd"
  page schedule, "src/cli/spec/schedule.scd"
  page keys, "src/cli/spec/keys.scd"
  page ls, "src/cli/traces/ls.scd"
  page recover, "src/cli/traces/recover.scd"
  page summary, "src/cli/traces/summary.scd"
  page report, "src/cli/traces/report.scd"
  page verify, "src/cli/traces/verify.scd"
  page merge, "src/cli/traces/merge.scd"
  page compare, "src/cli/traces/compare.scd"
  page convert, "src/cli/traces/convert.scd"
  page doctor, "src/cli/doctor/doctor.scd"
  page profshim, "src/cli/profshim.scd"
  page spec, "src/spec/spec.scd"
  .section .data.rel.ro, "aw"
  .quad 0, 0, 0

  .section .note.GNU-stack, "", %progbits
