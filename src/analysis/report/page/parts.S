/* Embeds the files of the report's page. */
.macro part name, file
  .global profshim_part_\name, profshim_part_\name\()_end
  .hidden profshim_part_\name, profshim_part_\name\()_end
profshim_part_\name:
  .incbin "\file"
profshim_part_\name\()_end:
  .byte 0
.endm

  .section .rodata
  part html, "src/analysis/report/page/page.html"
  part css, "src/analysis/report/page/page.css"
  part js, "src/analysis/report/page/page.js"
  part library, CHART_JS

  .section .note.GNU-stack, "", %progbits
