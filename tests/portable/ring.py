# Each step sends a message around the ring and then reduces. With an argument, rank 1 is killed in that step.
import array
import os
import signal
import sys
import threading

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
doomed = int(sys.argv[1]) if len(sys.argv) > 1 else None
total = array.array("q", [0])
for step in range(20):
    if step == doomed and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    got = world.sendrecv(rank + step, dest=(rank + 1) % size, source=(rank - 1) % size)
    world.Allreduce(array.array("q", [got]), total)
    helper = threading.Thread(target=MPI.Get_processor_name)
    helper.start()
    helper.join()
if rank == 0:
    print("sum", total[0])
