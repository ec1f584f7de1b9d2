"""A short training that uses torch.profiler: key_averages.py FOLDER [memory] [stack]

Writes FOLDER/trace.json and, from the same events, FOLDER/table.txt.
"""

import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

folder, memory, stack = sys.argv[1], "memory" in sys.argv, "stack" in sys.argv


def written(profiler):
    profiler.export_chrome_trace(folder + "/trace.json")
    with open(folder + "/table.txt", "w") as file:
        file.write(profiler.key_averages(group_by_input_shape=memory).table(row_limit=-1, header="as PyTorch prints it"))


model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with profile(
    activities=[ProfilerActivity.CPU],
    schedule=schedule(wait=0, warmup=1, active=3, repeat=1),
    on_trace_ready=written,
    profile_memory=memory,
    record_shapes=memory,
    with_stack=stack,
) as profiler:
    for _ in range(4):
        with record_function("forward and backward"):
            optimizer.zero_grad()
            x = torch.randn(32, 64)
            loss = model(x.to(torch.float64).to(torch.float32)).sum()
            loss.backward()
        optimizer.step()
        profiler.step()
