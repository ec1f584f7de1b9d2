"""An ordinary data-parallel training loop over gloo. Prints its last loss. --counts: see operator_counts.py.

usage: train_ddp.py [--counts FILE] [--accumulate N] [--workers N] [--context NAME] [--backward-thread] [--by-hand]
"""
import argparse
import gc
import threading

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from operator_counts import OperatorCounts

STEPS = 20


def run_in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def main():
    dist.init_process_group("gloo")
    train(parsed())
    # A model that outlives its group keeps the group's threads. PyTorch 2.15 sometimes aborts if Python ends before
    # these threads.
    gc.collect()
    dist.destroy_process_group()


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--context", help="how the workers are started: fork, spawn, forkserver")
    parser.add_argument("--backward-thread", action="store_true", help="another thread for each backward pass")
    parser.add_argument("--by-hand", action="store_true", help="no optimizer of PyTorch's")
    return parser.parse_args()


def train(options):
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(16 * STEPS * options.accumulate, 32))
    loader = DataLoader(data, batch_size=16, num_workers=options.workers, multiprocessing_context=options.context)
    batches = iter(loader)
    counts = OperatorCounts(options.counts, dist.get_rank())

    for step in range(STEPS):
        for _ in range(options.accumulate):
            (batch,) = next(batches)
            loss = model(batch).pow(2).mean()
            if options.backward_thread:
                run_in_thread(loss.backward)
            else:
                loss.backward()
        if options.by_hand:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.01 * parameter.grad
        else:
            optimizer.step()
        counts.after_step(step)
        optimizer.zero_grad()

    if dist.get_rank() == 0:
        print(f"loss {loss.item():.6f}")
    counts.write()


if __name__ == "__main__":
    main()
