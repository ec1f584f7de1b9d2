// Measures the cost of recording a call on this machine, through the code that the job's calls use.
#include "mpi_forward.h"
#include "mpi_lifecycle.h"
#include "mpi_rows.h"
#include "profshim/recorder_control.h"

namespace profshim::mpi {

double call_cost() {
  // A probe of a known rank has a peer, a tag and a communicator, and MPI is asked nothing for it. The function behind
  // the hook is one that does nothing.
  recorder::ScratchThread scratch;
  return scratch.cost_ns([] {
    int status[16] = {};
    std::uint64_t words[] = {0, 0, abi().world, reinterpret_cast<std::uint64_t>(status), 0};
    intercept<RowOf<HookId::MPI_Probe>::kRow>(words, false, [] { return 0; });
  });
}

}  // namespace profshim::mpi
