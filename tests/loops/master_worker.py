"""A master hands tasks of varying length to its workers with mpi4py.

steps: 90
ranks: 4
"""

import numpy as np
from mpi4py import MPI

TASKS = 90
TAG_TASK, TAG_STOP = 1, 2
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def work(task):
    n = 20 + (task * 37) % 60
    matrix = np.random.default_rng(task).standard_normal((n, n))
    return float(np.linalg.eigvals(matrix).real.max())


def master():
    status = MPI.Status()
    results = {}
    next_task = 0
    for worker in range(1, size):
        comm.send(next_task, dest=worker, tag=TAG_TASK)
        next_task += 1
    while len(results) < TASKS:
        task, value = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        results[task] = value
        if next_task < TASKS:
            comm.send(next_task, dest=status.Get_source(), tag=TAG_TASK)
            next_task += 1
        else:
            comm.send(None, dest=status.Get_source(), tag=TAG_STOP)
    print("largest", max(results.values()))
    print("steps:", len(results))


def worker():
    status = MPI.Status()
    while True:
        task = comm.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == TAG_STOP:
            break
        comm.send((task, work(task)), dest=0)


if rank == 0:
    master()
else:
    worker()
