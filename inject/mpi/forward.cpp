#include "forward.h"

namespace profshim::mpi {

int missing_function_error() { return abi().implementation == Implementation::kMpich ? 15 : 16; }

}  // namespace profshim::mpi
