"""Counts of operators and ranges by torch.profiler for steps 11 to 13 of a loop. Tests compare the trace with them."""
import collections
import json

import torch

FIRST, LAST = 11, 13


class OperatorCounts:
    """Writes the counts to PATH.RANK. Without a path it does nothing."""

    def __init__(self, path, rank=0):
        self.path = path and f"{path}.{rank}"
        self.profiler = path and torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])

    def after_step(self, step):
        """Must be called right after the optimizer's step of iteration `step`, where a step ends and the next begins."""
        if self.path and step == FIRST - 1:
            self.profiler.start()
        if self.path and step == LAST:
            self.profiler.stop()

    def write(self):
        if not self.path:
            return
        # key_averages() is not used, because it counts a call inside another one of the same name once.
        counts = collections.Counter(e.name() for e in self.profiler.profiler.kineto_results.events())
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(counts, file)
