"""torch.profiler's own counts of operators and ranges for steps 11 to 13 of a loop, for a test to compare with."""
import collections
import json

import torch

FIRST, LAST = 11, 13


class OperatorCounts:
    """Written to PATH.RANK; without a path it does nothing."""

    def __init__(self, path, rank=0):
        self.path = path and f"{path}.{rank}"
        self.profiler = path and torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])

    def after_step(self, step):
        """Right behind the optimizer's step of iteration `step`: there one step ends and the next begins."""
        if self.path and step == FIRST:
            self.profiler.start()
        if self.path and step == LAST + 1:
            self.profiler.stop()

    def write(self):
        if not self.path:
            return
        # Not key_averages(), which takes a call inside one of the same name for one call.
        counts = collections.Counter(e.name() for e in self.profiler.profiler.kineto_results.events())
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(counts, file)
