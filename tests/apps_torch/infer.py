"""Calls operators on two threads and pushes a range, in one process without optimizer and launcher."""
import threading

import torch

model = torch.nn.Sequential(torch.nn.Linear(16, 16))


def work(times):
    with torch.no_grad():
        for _ in range(times):
            with torch.autograd.profiler.record_function("my range"):
                model(torch.ones(4, 16))


other = threading.Thread(target=work, args=(5,))
work(10)
other.start()
other.join()
print("done")
