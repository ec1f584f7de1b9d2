"""Imports PyTorch and ends. It calls no operator, so it is no rank."""
import torch

print(torch.__name__)
