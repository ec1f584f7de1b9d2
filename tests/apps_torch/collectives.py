"""Calls every collective of gloo on two ranks."""
import gc

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
pair = dist.new_group([0, 1])
tensor = torch.full((2, 3), float(rank))
dist.all_reduce(tensor)
dist.all_reduce(tensor, async_op=True).wait()
dist.broadcast(torch.ones(7, dtype=torch.int64), src=1)
dist.reduce(torch.ones(4, dtype=torch.float64), dst=1)
dist.all_gather([torch.empty(5) for _ in range(ranks)], torch.ones(5))
dist.gather(torch.ones(3), [torch.empty(3) for _ in range(ranks)] if rank == 0 else None, dst=0)
dist.scatter(torch.empty(6), [torch.ones(6) for _ in range(ranks)] if rank == 0 else None, src=0)
if rank == 0:
    dist.send(torch.ones(9), dst=1, tag=3)
else:
    dist.recv(torch.empty(9), src=0, tag=3)
dist.all_reduce(torch.ones(11), group=pair)
dist.barrier()
if rank == 0:
    print(f"sum {tensor.sum().item()}")
gc.collect()
dist.destroy_process_group()
