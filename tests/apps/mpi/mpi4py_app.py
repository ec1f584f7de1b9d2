"""mpi4py without numpy: collectives, a ring of non-blocking messages, a split communicator. Counts its own calls."""
import collections
import json
import sys

from mpi4py import MPI

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
counts = collections.Counter({"MPI_Init_thread": 1, "MPI_Finalize": 1})
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank + size - 1) % size


def call(name, function, *arguments):
    counts[name] += 1
    return function(*arguments)


half = call("MPI_Comm_split", world.Split, rank % 2, rank)
for step in range(rounds):
    data = bytearray(64)
    if rank == 0:
        data[:] = bytes([step] * 64)
    call("MPI_Bcast", world.Bcast, [data, MPI.BYTE], 0)
    assert data[63] == step
    mine, sums = bytearray([1] * 8), bytearray(8)
    call("MPI_Allreduce", half.Allreduce, [mine, MPI.UNSIGNED_CHAR], [sums, MPI.UNSIGNED_CHAR], MPI.SUM)
    assert sums[0] == half.Get_size()
    incoming = bytearray(4)
    receive = call("MPI_Irecv", world.Irecv, [incoming, MPI.BYTE], left, 3)
    send = call("MPI_Isend", world.Isend, [bytes([rank] * 4), MPI.BYTE], right, 3)
    call("MPI_Waitall", MPI.Request.Waitall, [receive, send])
    assert incoming[0] == left
    call("MPI_Barrier", world.Barrier)
call("MPI_Comm_free", half.Free)
lines = [json.dumps({"rank": rank, "function": name, "count": count}) for name, count in sorted(counts.items())]
sys.stdout.write("\n".join(lines) + "\n")
sys.stdout.flush()
