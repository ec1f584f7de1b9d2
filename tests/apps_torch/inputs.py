"""Calls operators with inputs of every kind. --expected writes the inputs that torch.profiler reports:
[{"name": ..., "args": {...}}, ...]

usage: inputs.py [--expected FILE]
"""
import argparse
import json
import os
import tempfile

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--expected")
options = parser.parse_args()


def work():
    one = torch.ones(3, 8, requires_grad=True)
    two = torch.ones(8, 4)
    loss = torch.nn.functional.linear(one, two.t(), torch.ones(4)).relu().pow(2.0).sum()
    loss.backward()
    torch.cat([one.detach(), torch.zeros(2, 8)]).to(torch.float64)
    torch.stack([torch.ones(()), torch.ones(())])
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool, torch.float16,
                  torch.bfloat16, torch.complex64):
        torch.zeros(2, dtype=dtype).clone()
    torch.nn.functional.conv2d(torch.ones(2, 3, 16, 16), torch.ones(8, 3, 3, 3), stride=2, padding=1)
    torch.ones(1, 2, 3, 4, 5, 6, 7).transpose(0, 6).contiguous()
    torch.full((2, 2), -0.5).clamp(min=0.25)
    torch.ones(4, 4)[1:3, ::2].contiguous()
    torch.nn.functional.embedding(torch.tensor([1, 0]), torch.ones(3, 2))
    torch.add(torch.ones(2), torch.ones(2), alpha=3)
    torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]) if hasattr(torch, "nested") else None


def arguments(profiler):
    """Inputs of the operators inside "compared", from torch's trace if it has them (2.x), otherwise from its events."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        trace = json.load(open(file.name, encoding="utf-8"))
    if isinstance(trace, dict):
        events = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["tid"] == os.getpid()]
        span = [(e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "compared"][0]
        return [
            {"name": e["name"], "args": e["args"]}
            for e in events
            if e["cat"] == "cpu_op" and span[0] <= e["ts"] and e["ts"] + e["dur"] <= span[1]
        ]
    events = profiler.profiler.kineto_results.events()
    span = [(e.start_us(), e.start_us() + e.duration_us()) for e in events if e.name() == "compared"][0]
    return [
        {"name": e.name(), "args": {"Input Dims": e.shapes()} if e.shapes() else {}}
        for e in events
        if e.name() != "compared" and span[0] <= e.start_us() and e.start_us() + e.duration_us() <= span[1]
    ]


work()
if options.expected:
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True
    ) as profiler:
        with torch.profiler.record_function("compared"):
            work()
    with open(options.expected, "w", encoding="utf-8") as file:
        json.dump(arguments(profiler), file)
print("done")
