"""Python runs this file at its start if PYTHONPATH names the folder: without_compiler() of tests/e2e/support/torch_run.h.

PyTorch 2 imports torch._dynamo before the first step of an optimizer, only to mark functions that torch.compile leaves
out. This file puts an empty module in its place. torch.profiler imports torch._inductor, if it is there.
"""
import importlib.abc
import importlib.machinery
import sys
import types


class EmptyDynamo(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name == "torch._inductor":
            raise AttributeError(name)  # the answer to hasattr(torch, "_inductor")
        return importlib.machinery.ModuleSpec(name, self) if name == "torch._dynamo" else None

    def exec_module(self, module):
        module.disable = lambda function, *_, **__: function
        module.graph_break = lambda: None
        module.utils = types.SimpleNamespace(get_optimize_ddp_mode=lambda: "ddp_optimizer")  # PyTorch's default


sys.meta_path.insert(0, EmptyDynamo())
