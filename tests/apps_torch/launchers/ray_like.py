"""Starts processes as Ray does, without Ray: their parent is called "raylet" and names its session.

ray_like.py SESSION trains and starts two trainers, two rollout engines and three trials.
"""
import os
import subprocess
import sys


def work():
    import torch
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(20):
        model(torch.ones(4, 8)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def start(role, **ranks):
    return subprocess.Popen([sys.argv[2], __file__], env=dict(os.environ, PROFSHIM_ROLE=role, **ranks))


def raylet():
    two = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    started = [start("Trainer", RANK=str(rank), LOCAL_RANK=str(rank), **two) for rank in range(2)]
    started += [start("Rollout") for _ in range(2)] + [start("Trial") for _ in range(3)]
    sys.exit(max(process.wait() for process in started))


if len(sys.argv) == 1:
    work()
elif len(sys.argv) == 2:
    cluster = subprocess.Popen(["raylet", __file__, "--session-name=" + sys.argv[1], sys.executable],
                               executable=sys.executable)
    work()
    sys.exit(cluster.wait())
else:
    raylet()
