"""Negates two numbers until the library has measured its overhead, and prints how often.

With --observer FILE another tool observes the operators of all threads and writes them into FILE.
"""
import json
import sys
import time

import torch

observer = None
if "--observer" in sys.argv:
    path = sys.argv[sys.argv.index("--observer") + 1]
    observer = torch.profiler.ExecutionTraceObserver().register_callback(path)
    observer.start()

x = torch.ones(2)
with torch.profiler.record_function("begin"):
    x.neg_()
count = 1
end = time.monotonic() + 2
while time.monotonic() < end:
    x.neg_()
    count += 1
    time.sleep(0.001)

if observer is not None:
    observer.stop()
    observer.unregister_callback()
    with open(path, encoding="utf-8") as file:
        nodes = json.load(file)["nodes"]
    print("observed", sum(node["name"] == "aten::neg_" for node in nodes) - count)
print("negated", count)
