#include "forward.h"

namespace profshim::mpi {

int error_of_missing_function() { return abi().implementation == Implementation::kOpenMpi ? 16 : 15; }

}  // namespace profshim::mpi
