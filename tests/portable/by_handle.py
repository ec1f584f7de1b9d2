"""Calls MPI as ctypes finds it: by dlsym(handle, name). Prints the number of barriers."""
import ctypes

BARRIERS = 50

mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
mpi.MPI_Init(None, None)
for _ in range(BARRIERS):
    mpi.MPI_Barrier(world)
mpi.MPI_Finalize()
print(BARRIERS)
