"""Launches a kernel of Triton's in a loop without markers. Prints the sum of its result.

steps: 500
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_scaled(x, y, count, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(y + at, tl.load(y + at, mask=inside) + scale * tl.load(x + at, mask=inside), mask=inside)


def main():
    count = 1 << 20
    x = torch.ones(count, device="cuda")
    y = torch.zeros(count, device="cuda")
    for _ in range(500):
        add_scaled[(triton.cdiv(count, 1024),)](x, y, count, 0.5, BLOCK=1024)
        torch.cuda.synchronize()
    print(f"sum {y.sum().item():.0f}")


if __name__ == "__main__":
    main()
