"""Counts the devices of CUDA and leaves the work to a process with a rank, as torchrun does since PyTorch 2.11.

usage: counts_devices.py PROGRAM [ARGUMENT...]
"""
import ctypes
import os
import subprocess
import sys

import torch  # noqa: F401

ctypes.CDLL("libcuda.so.1").cuInit(0)
ranks = {name: value for name, value in zip(("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"), "0011")}
sys.exit(subprocess.run([sys.executable, *sys.argv[1:]], env={**os.environ, **ranks}, check=False).returncode)
