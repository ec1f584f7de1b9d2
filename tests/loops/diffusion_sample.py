"""DDPM sampling loop of 50 denoising steps, without an optimizer.

steps: 50
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)
torch.set_num_threads(1)

T = 50
betas = torch.linspace(1e-4, 0.05, T)
alphas = 1 - betas
alphas_bar = torch.cumprod(alphas, dim=0)


class UNet(nn.Module):
    def __init__(self, ch=32):
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


@torch.no_grad()
def sample(model, shape):
    steps = 0
    x = torch.randn(shape)
    for t in reversed(range(T)):
        batch_t = torch.full((shape[0],), t, dtype=torch.long)
        eps = model(x, batch_t)
        mean = (x - betas[t] / (1 - alphas_bar[t]).sqrt() * eps) / alphas[t].sqrt()
        noise = torch.randn_like(x) if t > 0 else torch.zeros_like(x)
        x = mean + betas[t].sqrt() * noise
        steps += 1
    return x, steps


model = UNet().eval()
images, steps = sample(model, (8, 1, 24, 24))
print("mean", images.mean().item())
print("steps:", steps)
