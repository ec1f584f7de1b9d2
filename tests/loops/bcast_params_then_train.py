"""Broadcasts 200 parameter arrays, then trains with Allreduce of gradients.

steps: 60
ranks: 4
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
rng = np.random.default_rng(rank)

parameters = [rng.standard_normal((40, 40)) * 0.1 for _ in range(200)]
for p in parameters:
    comm.Bcast(p, root=0)

trained = parameters[:10]
velocity = [np.zeros_like(p) for p in trained]
steps = 0
for step in range(60):
    x = rng.standard_normal((64, 40))
    activations = [x]
    for w in trained:
        activations.append(np.tanh(activations[-1] @ w))
    delta = activations[-1] - x
    gradients = []
    for w, before, after in zip(reversed(trained), reversed(activations[:-1]), reversed(activations[1:])):
        delta = delta * (1 - after**2)
        gradients.append(before.T @ delta / len(x))
        delta = delta @ w.T
    gradients.reverse()

    for w, v, g in zip(trained, velocity, gradients):
        total = np.empty_like(g)
        comm.Allreduce(g, total, op=MPI.SUM)
        v *= 0.9
        v += total / size
        w -= 0.05 * v
    steps += 1

if rank == 0:
    print("steps:", steps)
