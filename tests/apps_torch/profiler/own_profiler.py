"""A training loop that uses torch.profiler with a schedule and a trace handler."""
import collections
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def report(profiler):
    path = f"{sys.argv[1]}/own.{profiler.step_num}.json"
    profiler.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    counts = collections.Counter(e["name"] for e in events if e["ph"] == "X")
    for name in ("aten::addmm", "AddmmBackward0", "forward", "Optimizer.step#SGD.step"):
        print(profiler.step_num, name, counts[name])
    print(sorted(name for name in counts if name.startswith("ProfilerStep#")))


with profile(
    activities=[ProfilerActivity.CPU],
    schedule=schedule(wait=4, warmup=1, active=4, repeat=2),
    on_trace_ready=report,
    record_shapes=True,
    with_stack=True,
) as profiler:
    for _ in range(20):
        with record_function("forward"):
            loss = model(torch.randn(8, 16)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        profiler.step()
print(f"loss {loss.item():.6f}")
