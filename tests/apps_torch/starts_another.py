"""Uses PyTorch and starts another program that uses it, through a shell."""
import os
import subprocess
import sys

import torch

torch.ones(2).add(1)
other = os.path.join(os.path.dirname(__file__), "infer.py")
subprocess.run(["sh", "-c", f"'{sys.executable}' '{other}'; exit 0"], check=True)
