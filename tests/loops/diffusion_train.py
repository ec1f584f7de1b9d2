"""DDPM noise prediction with a tiny UNet and an average of the weights.

steps: 40
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
torch.set_num_threads(1)

T = 200
betas = torch.linspace(1e-4, 0.02, T)
alphas_bar = torch.cumprod(1 - betas, dim=0)


class UNet(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.time = nn.Embedding(T, ch)
        self.inp = nn.Conv2d(1, ch, 3, padding=1)
        self.down = nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(2 * ch, 2 * ch, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * ch, ch, 4, stride=2, padding=1)
        self.out = nn.Conv2d(2 * ch, 1, 3, padding=1)

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.time(t)[:, :, None, None])
        d = F.silu(self.mid(F.silu(self.down(h))))
        return self.out(torch.cat([h, F.silu(self.up(d))], dim=1))


model = UNet()
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
loader = DataLoader(TensorDataset(torch.randn(320, 1, 16, 16)), batch_size=16, shuffle=True)

steps = 0
for epoch in range(2):
    for (x0,) in loader:
        t = torch.randint(0, T, (x0.size(0),))
        noise = torch.randn_like(x0)
        a = alphas_bar[t][:, None, None, None]
        x_t = a.sqrt() * x0 + (1 - a).sqrt() * noise
        loss = F.mse_loss(model(x_t, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for p_ema, p in zip(ema.parameters(), model.parameters()):
                p_ema.mul_(0.995).add_(p, alpha=0.005)
        steps += 1
    print(f"epoch {epoch}: loss {loss.item():.4f}")

print("steps:", steps)
