#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const char* const names[] = {"quote \" and backslash \\", "control \x01\b\f\n\r\t\x1f\x7f",
                                      "broken \xff\xc3( \xe2\x82 utf-8", "over\xc0\xaflong \xed\xa0\x80 surrogate",
                                      "</script> {\"ph\":\"X\"} \xf0\x9f\x98\x80"};
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i) {
    nvtxRangePushA(names[i]);
    nvtxRangePop();
  }
  MPI_Finalize();
  return 0;
}
