"""Data-parallel SGD on a linear model with numpy and mpi4py.

steps: 60
ranks: 4
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
rng = np.random.default_rng(rank)

features, samples = 2000, 200
true_weights = np.linspace(-1, 1, features)
x = rng.standard_normal((samples, features))
y = x @ true_weights + 0.1 * rng.standard_normal(samples)

weights = np.zeros(features)
gradient = np.empty(features)
steps = 0
for step in range(60):
    batch = rng.integers(0, samples, 64)
    error = x[batch] @ weights - y[batch]
    local_gradient = x[batch].T @ error / len(batch)
    comm.Allreduce(local_gradient, gradient, op=MPI.SUM)
    weights -= 0.01 * gradient / size
    steps += 1

if rank == 0:
    print("distance", np.linalg.norm(weights - true_weights))
    print("steps:", steps)
