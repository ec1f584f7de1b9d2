"""Children of a program that uses PyTorch itself before it starts them.

usage: trained_parent.py PARENT METHOD CHILD [COUNT]
  PARENT   none: no operator; ops: a few; trained: 1500 operators; steps: a training loop, too; open: starts the
           children from its training loop
  METHOD   fork, spawn, forkserver: as in multiprocessing; _Fork: without atfork handlers, hogwild only
  CHILD    env: ranks by RANK; group: ranks by the arguments of init_process_group(); hogwild: trainers without a group;
           infer: 2000 operators without an optimizer; pool: the same in a multiprocessing.Pool; executor: the same in a
           concurrent.futures.ProcessPoolExecutor; loader: the same in workers of a DataLoader; joblib: trainers in
           workers of joblib; program: trainers that are programs of their own
"""
import concurrent.futures
import ctypes
import gc
import multiprocessing
import os
import socket
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

PARENT, METHOD, CHILD = sys.argv[1:4]
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 2
STEPS = 20


def train(model, steps=STEPS, between=lambda step: None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.randn(16, 32)).pow(2).mean().backward()
        optimizer.step()
        between(step)


def infer(_=None):
    total = 0.0
    with torch.no_grad():
        for _ in range(1000):
            total += torch.ones(3).add(1)[0].item() * 0
    return total


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return infer() + torch.ones(2)


def join(rank, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    if CHILD == "env":
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(COUNT))
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", rank=rank, world_size=COUNT)
    train(DistributedDataParallel(torch.nn.Linear(32, 8)))
    gc.collect()  # see train_ddp.py
    dist.destroy_process_group()


def hogwild(rank, _):
    torch.set_num_threads(1)
    train(torch.nn.Linear(32, 8))


def hogwild_together(rank, _):
    """On a busy machine, a child could have ended before the next one starts. That would be a rank started again."""
    open(f"child-{rank}", "w").close()
    while any(not os.path.exists(f"child-{other}") for other in range(COUNT)):
        time.sleep(0.001)
    hogwild(rank, _)


def infer_alone(rank, _):
    torch.set_num_threads(1)
    infer()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def fork_without_handlers():
    children = []
    for rank in range(COUNT):
        child = ctypes.CDLL(None)._Fork()
        if child == 0:
            hogwild_together(rank, 0)
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)


def start_children():
    if METHOD == "_Fork":
        return fork_without_handlers()
    context = torch.multiprocessing.get_context(METHOD)
    if CHILD == "pool":
        with context.Pool(COUNT) as pool:
            pool.map(infer, range(COUNT * 2))
            pool.close()
            pool.join()
    elif CHILD == "executor":
        with concurrent.futures.ProcessPoolExecutor(COUNT, mp_context=context) as executor:
            list(executor.map(infer, range(COUNT * 2)))
    elif CHILD == "joblib":
        import joblib

        joblib.Parallel(n_jobs=COUNT)(joblib.delayed(hogwild)(i, 0) for i in range(COUNT))
    elif CHILD == "program":
        command = [sys.executable, os.path.abspath(__file__), "steps", METHOD, "none"]
        if any(started.wait() for started in [subprocess.Popen(command) for _ in range(COUNT)]):
            sys.exit(1)
    elif CHILD == "loader":
        loader = torch.utils.data.DataLoader(Slow(), num_workers=COUNT, multiprocessing_context=context)
        assert len(list(loader)) == 4
    elif CHILD != "none":
        work = {"hogwild": hogwild_together, "infer": infer_alone}.get(CHILD, join)
        torch.multiprocessing.start_processes(work, (free_port(),), nprocs=COUNT, start_method=METHOD)


def main():
    torch.set_num_threads(1)
    if PARENT == "ops":
        torch.ones(2).add(1)
    if PARENT == "trained":
        for _ in range(1500):
            torch.ones(2)
    if PARENT == "steps":
        train(torch.nn.Linear(32, 8))
    if PARENT == "open":
        train(torch.nn.Linear(32, 8), between=lambda step: start_children() if step == 11 else None)
    else:
        start_children()
    if CHILD != "none":
        print("done")


if __name__ == "__main__":
    main()
