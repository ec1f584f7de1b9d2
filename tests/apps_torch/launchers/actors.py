"""Workers that use PyTorch before they are given a rank, as those of Ray Train do.

The program that the user started, the driver, is no rank. It starts workers and sends them names of functions to call.
The training loop runs in a thread, as in Ray.

usage: actors.py [--tcp] [--copy]
  --tcp    init_method tcp://, with RANK set when training begins; otherwise env:// with all variables of torchrun
  --copy   workers get a copy of os.environ instead of the driver's environment
"""
import gc
import os
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

WORKERS = 2


# ---- functions that the driver sends


def preprocess(seed):
    return torch.full((4,), float(seed)).add(1).sum().item()


def get_address_and_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return "127.0.0.1", free.getsockname()[1]


def set_address(address, port):
    os.environ["MASTER_ADDR"] = address
    os.environ["MASTER_PORT"] = str(port)


def set_ranks(rank):
    os.environ["LOCAL_RANK"] = str(rank)
    os.environ["RANK"] = str(rank)
    os.environ["LOCAL_WORLD_SIZE"] = str(WORKERS)
    os.environ["WORLD_SIZE"] = str(WORKERS)
    os.environ["NODE_RANK"] = "0"


def setup_process_group(url, rank):
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=WORKERS)


def train():
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(torch.nn.Linear(32, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for (batch,) in DataLoader(TensorDataset(torch.randn(20 * 16, 32)), batch_size=16):
        loss = model(batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def run_train_function():
    losses = []
    thread = threading.Thread(target=lambda: losses.append(train()))
    thread.start()
    thread.join()
    return losses[0]


def shutdown_torch():
    gc.collect()  # see train_ddp.py
    dist.destroy_process_group()


# ---- a worker


def serve(descriptor):
    driver = Connection(descriptor)
    while True:
        try:
            function, arguments = driver.recv()
        except EOFError:
            return
        driver.send(function(*arguments))


# ---- the driver


class Worker:
    def __init__(self, is_copy):
        own, other = socket.socketpair()
        command = [sys.executable, os.path.abspath(__file__), "--serve", str(other.fileno())]
        environment = os.environ.copy() if is_copy else None
        self.process = subprocess.Popen(command, pass_fds=[other.fileno()], env=environment)
        other.close()
        self.connection = Connection(own.detach())

    def send(self, function, *arguments):
        self.connection.send((function, arguments))

    def answer(self):
        return self.connection.recv()


def drive(options):
    features = torch.arange(12.0).reshape(3, 4)
    for (row,) in DataLoader(TensorDataset(features)):
        row.mul(2).sum()
    workers = [Worker("--copy" in options) for _ in range(WORKERS)]

    def execute(function, *arguments, each=lambda rank: ()):
        for rank, worker in enumerate(workers):
            worker.send(function, *arguments, *each(rank))
        return [worker.answer() for worker in workers]

    print("preprocessed", execute(preprocess, each=lambda rank: (rank,)), flush=True)
    workers[0].send(get_address_and_port)
    address, port = workers[0].answer()
    if "--tcp" in options:
        execute(setup_process_group, f"tcp://{address}:{port}", each=lambda rank: (rank,))
    else:
        execute(set_address, address, port)
        execute(set_ranks, each=lambda rank: (rank,))
        execute(setup_process_group, "env://", each=lambda rank: (rank,))
    execute(set_ranks, each=lambda rank: (rank,))
    losses = torch.tensor(execute(run_train_function))
    execute(shutdown_torch)
    print(f"loss {losses.mean().item():.6f}", flush=True)
    for worker in workers:
        worker.connection.close()
    if any(worker.process.wait() != 0 for worker in workers):
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        drive(sys.argv[1:])
