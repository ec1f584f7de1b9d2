"""An ordinary data-parallel training loop over gloo. Prints its last loss; with --counts FILE, torch.profiler's own counts
of operators and ranges for steps 11 to 13 (rank 0).

usage: train_ddp.py [--counts FILE] [--accumulate N] [--workers N] [--by-hand]
"""
import argparse
import collections
import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--counts")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--by-hand", action="store_true", help="no optimizer of PyTorch's")
options = parser.parse_args()

STEPS, FIRST, LAST = 20, 11, 13

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = TensorDataset(torch.randn(16 * STEPS * options.accumulate, 32))
batches = iter(DataLoader(data, batch_size=16, num_workers=options.workers))
profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) if options.counts else None

for step in range(STEPS):
    for _ in range(options.accumulate):
        (batch,) = next(batches)
        loss = model(batch).pow(2).mean()
        loss.backward()
    if options.by_hand:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.01 * parameter.grad
    else:
        optimizer.step()
    # Step N begins where the optimizer's Nth step has ended.
    if profiler and step == FIRST:
        profiler.start()
    if profiler and step == LAST + 1:
        profiler.stop()
    optimizer.zero_grad()

if dist.get_rank() == 0:
    print(f"loss {loss.item():.6f}")
    if profiler:
        with open(options.counts, "w", encoding="utf-8") as file:
            # Not key_averages(), which takes a call inside one of the same name for one call.
            json.dump(collections.Counter(e.name() for e in profiler.profiler.kineto_results.events()), file)
dist.destroy_process_group()
