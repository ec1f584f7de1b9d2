"""Two trainers, two rollout engines and three trials in one cluster of Ray.

usage: ray_cluster.py LIBRARY FOLDER
"""
import os
import socket
import sys

import ray
import torch
import torch.distributed as dist


def train(model, steps, ddp=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if ddp:
        model = torch.nn.parallel.DistributedDataParallel(model)
    for _ in range(steps):
        model(torch.randn(16, 32)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


@ray.remote(num_cpus=0.2)
class Trainer:
    def run(self, rank, port):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2",
                          LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE="2")
        dist.init_process_group("gloo")
        train(torch.nn.Linear(32, 8), 20, ddp=True)
        dist.destroy_process_group()


@ray.remote(num_cpus=0.2)
class Rollout:
    def run(self):
        model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32))
        x = torch.randn(4, 32)
        with torch.no_grad():
            for _ in range(60):
                x = torch.softmax(model(x), -1)


@ray.remote(num_cpus=0.2)
class Trial:
    def run(self):
        train(torch.nn.Linear(32, 8), 25)


def main():
    library, folder = sys.argv[1:]
    torch.set_num_threads(1)
    variables = {"LD_PRELOAD": library, "PROFSHIM_FOLDER": folder + "/{run_name}", "PROFSHIM_RANKS": "all"}
    ray.init(num_cpus=2, runtime_env={"env_vars": variables}, include_dashboard=False, log_to_driver=False)
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    trainers, others = [Trainer.remote() for _ in range(2)], [Rollout.remote() for _ in range(2)]
    others += [Trial.remote() for _ in range(3)]
    ray.get([trainer.run.remote(rank, port) for rank, trainer in enumerate(trainers)] +
            [other.run.remote() for other in others])
    ray.shutdown()


main()
