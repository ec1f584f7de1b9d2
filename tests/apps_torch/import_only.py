"""Imports PyTorch and ends: no operator, so no rank."""
import torch

print(torch.__name__)
