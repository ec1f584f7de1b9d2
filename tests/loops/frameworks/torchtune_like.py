"""Fine-tunes a small Llama with a recipe as in torchtune: accumulation by hand, a scheduler, logs of each step.

steps: 20
"""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (p(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for p in (self.q_proj, self.k_proj, self.v_proj))
        x = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(x.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.sa_norm, self.mlp_norm, self.attn = nn.RMSNorm(dim), nn.RMSNorm(dim), Attention(dim, heads)
        self.w1, self.w3 = nn.Linear(dim, 2 * dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x):
        x = x + self.attn(self.sa_norm(x))
        h = self.mlp_norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Recipe:
    def __init__(self):
        self.model = nn.Sequential(nn.Embedding(300, 64), *(Layer() for _ in range(4)), nn.Linear(64, 300))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, fused=True)
        self.lr_scheduler = LambdaLR(self.optimizer, lambda s: min(1, (s + 1) / 5) * (1 + math.cos(s / 20)) / 2)
        self.dataloader = DataLoader([torch.randint(0, 300, (33,)) for _ in range(160)], batch_size=2, shuffle=True)
        self.gradient_accumulation_steps, self.global_step = 4, 0

    def train(self):
        self.optimizer.zero_grad()
        t0, running_loss, num_tokens = time.perf_counter(), 0, 0
        for idx, batch in enumerate(self.dataloader):
            tokens, labels = batch[:, :-1], batch[:, 1:]
            num_tokens += labels.numel()
            loss = F.cross_entropy(self.model(tokens).flatten(0, 1), labels.flatten())
            running_loss += loss.detach()
            (loss / self.gradient_accumulation_steps).backward()
            if (idx + 1) % self.gradient_accumulation_steps == 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                self.lr_scheduler.step()
                self.global_step += 1
                rate = num_tokens / (time.perf_counter() - t0)
                print(f"step {self.global_step} loss {running_loss.item() / 4:.3f} tokens/s {rate:.0f}")
                t0, running_loss, num_tokens = time.perf_counter(), 0, 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    recipe = Recipe()
    recipe.train()
    print("steps:", recipe.global_step)
    assert recipe.global_step == 20
