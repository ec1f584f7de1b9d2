#include "forward.h"

namespace profshim::mpi {

int missing_function_error() { return abi().implementation == Implementation::kOpenMpi ? 16 : 15; }

}  // namespace profshim::mpi
